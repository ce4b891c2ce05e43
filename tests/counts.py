"""What docs/architecture.md counts: `python tests/counts.py [SRC]` prints files, lines and conditions of a tree of sources.

A condition is the test of an `if`, a `while`, a conditional expression or a comprehension, or what an `assert` asks. The figures
are to see by: none of them is a limit.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FORMS = ("buckets", "ranges", "columns", "views", "randomized", "synthetic")
BASES = ("blind", "safe", "soft", "matched", "tight", "annealed", "noisy", "paper", "none")
METHODS = (
    "ambiguity", "anatomy", "boxes", "burel", "burel-perturbation", "decoys", "heterogeneous", "mondrian", "multi-size",
    "near-groups", "noisy-boxes", "noisy-tables", "privbayes", "priview", "ring", "small-domain", "uniform",
)  # fmt: skip


def named(node: ast.AST) -> str:
    """Return the last name of an expression: `form` of `release.manifest.form`; "" for any other."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def words_in(nodes: list[ast.expr]) -> set[object]:
    """Return the constants among expressions, and those in a tuple, list or set among them."""
    flat = [inner for node in nodes for inner in (node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node])]
    return {node.value for node in flat if isinstance(node, ast.Constant)}


def compared_with(tree: ast.AST, names: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Return how many comparisons have an expression of one of these names on a side, and one of these words on another."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            found += any(named(side) in names for side in sides) and bool(words_in(sides) & set(words))
    return found


def conditions(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield everything that is asked."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def mentions(tree: ast.AST, name: str) -> int:
    """Return how many conditions mention a name."""
    return sum(any(named(node) == name for node in ast.walk(test)) for test in conditions(tree))


def lengths_of_secrets(tree: ast.AST) -> int:
    """Return how many comparisons ask how long a list of secrets is."""
    lists = ("secrets", "sensitive", "each")
    return sum(
        any(
            isinstance(inner, ast.Call) and named(inner.func) == "len" and inner.args and named(inner.args[0]) in lists
            for inner in ast.walk(node)
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
    )


def main(source: Path) -> None:
    """Print the figures."""
    files = sorted(path for path in source.rglob("*.py") if "studies" not in path.relative_to(source).parts)
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in files]
    print("files, lines:", len(files), sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files))
    print("a form compared with a word:", sum(compared_with(tree, ("form",), FORMS) for tree in trees))
    print("a basis compared with a word:", sum(compared_with(tree, ("basis",), BASES) for tree in trees))
    print("a method's name compared with a word:", sum(compared_with(tree, ("name", "method"), METHODS) for tree in trees))
    print("conditions that ask for `apart`:", sum(mentions(tree, "apart") for tree in trees))
    print("conditions that mention presence:", sum(mentions(tree, "presence") for tree in trees))
    print("lengths of a list of secrets that are compared:", sum(map(lengths_of_secrets, trees)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent.parent / "src" / "sfumato")
