"""Imports point one way, and the heavy libraries are not needed to say hello."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

ROOT = Path(sfumato.__file__).parent

MAY_IMPORT = {
    "_jit": {"progress"},
    "arrays": set(),
    "basis": set(),
    "parameters": {"errors", "exact"},
    "plugins": {"errors"},
    "charts": {"errors"},
    "errors": set(),
    "exact": {"errors"},
    "notebook": set(),
    "places": set(),
    "progress": set(),
    "threads": set(),
    "randomness": {"arrays", "errors"},
    "table": {"_jit", "notebook", "arrays", "errors", "exact", "randomness"},
    "privacy": {"arrays", "errors", "exact", "parameters", "plugins"},
    "groups": {"_jit", "arrays", "basis", "errors", "exact", "progress", "randomness", "table", "threads", "privacy"},
    "randomize": {"_jit", "arrays", "errors", "exact", "randomness", "privacy"},
    "synthetic": {"arrays", "errors", "exact", "randomness", "table", "privacy", "randomize"},
    "papers": {"_jit", "arrays", "errors", "exact", "progress", "randomness", "table", "threads", "privacy", "groups"},
    "release": {"notebook", "_jit", "arrays", "basis", "errors", "exact", "table"},
    "query": {"notebook", "_jit", "arrays", "errors", "exact", "places", "randomness", "table", "release", "__version__"},
    "auditor": {"notebook", "_jit", "arrays", "errors", "exact", "table", "release"},
    "attacks": {
        "_jit",
        "arrays",
        "auditor",
        "errors",
        "exact",
        "groups",
        "methods",
        "privacy",
        "progress",
        "query",
        "randomize",
        "randomness",
        "release",
        "table",
    },
    "utility": {"arrays", "errors", "exact", "table", "release", "query"},
    "methods": {
        "arrays",
        "auditor",
        "basis",
        "parameters",
        "plugins",
        "errors",
        "exact",
        "progress",
        "randomness",
        "table",
        "privacy",
        "groups",
        "randomize",
        "papers",
        "synthetic",
        "release",
        "__version__",
    },
    "scale": {
        "arrays",
        "auditor",
        "budget",
        "errors",
        "groups",
        "methods",
        "privacy",
        "progress",
        "randomness",
        "randomize",
        "register",
        "release",
        "table",
    },
}
SANCTIONED = {("release", "query")}  # Release.count is sugar: it calls query inside the function


def imports(path):
    """Return the rooms that a module imports from, with the function it happens in (None at the top)."""
    tree = ast.parse(path.read_text())
    inside = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for child in ast.walk(node):
                inside[child] = node.name
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sfumato":
            parts = node.module.split(".")
            for alias in node.names:
                yield (parts[1] if len(parts) > 1 else alias.name), inside.get(node)


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_imports_point_one_way(room):
    files = sorted((ROOT / room).rglob("*.py")) if (ROOT / room).is_dir() else [ROOT / f"{room}.py"]
    assert files
    for path in files:
        typing_only = "if TYPE_CHECKING" in path.read_text()
        for target, function in imports(path):
            if target == room or target in MAY_IMPORT[room]:
                continue
            assert (room, target) in SANCTIONED, f"{path.name} imports {target}"
            assert function is not None or typing_only


def test_the_auditor_shares_nothing_with_the_makers():
    makers = {"groups", "papers", "randomize", "synthetic", "methods", "privacy", "randomness", "api", "parameters"}
    for path in (ROOT / "auditor").glob("*.py"):
        assert not makers & {target for target, _ in imports(path)}


def test_the_audit_beyond_memory_shares_nothing_with_the_makers():
    makers = {"groups", "papers", "randomize", "methods", "privacy", "randomness", "api", "parameters"}
    for name in ("audit", "reread", "entries"):
        assert not makers & {target for target, _ in imports(ROOT / "scale" / f"{name}.py")}


def test_what_an_attack_may_read_has_no_way_to_the_table():
    """Only the suite, which prepares attacks, and who judges or checks ever hold a `Table`; adversaries get a `Sight`."""
    for path in (ROOT / "attacks").glob("*.py"):
        if path.name not in ("suite.py", "judge.py", "sight.py", "differential.py"):
            assert "table.table" not in path.read_text(), path


def test_release_query_and_auditor_have_a_file_for_every_form():
    from sfumato.release.base import FORMS

    for release in FORMS.values():
        form = release.form
        for room in ("release", "query", "auditor"):
            assert (ROOT / room / f"{form}.py").is_file()


def test_nobody_asks_which_method_or_which_form_it_is():
    """What differs by method or form stands in one registry a room, or in the classes themselves."""
    from sfumato.methods import METHODS

    kinds = {kind.__name__ for kind in METHODS.values()}
    kinds |= {"BucketsRelease", "ColumnsRelease", "RandomizedRelease", "RangesRelease", "SyntheticRelease", "ViewsRelease"}
    kinds |= {"Randomizing", "Linking", "Synthesizing", "ApartRelease"}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
                asked = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
                assert not asked & kinds, f"{path.name}:{node.lineno}"
            if isinstance(node, ast.Compare) and re.search(r"method\.name$", ast.unparse(node.left)):
                named = {one.value for one in ast.walk(node.comparators[0]) if isinstance(one, ast.Constant)}
                named |= {one.id for one in ast.walk(node.comparators[0]) if isinstance(one, ast.Name)}
                assert not named & {*kinds, *METHODS}, f"{path.name}:{node.lineno}"


def test_importing_the_package_loads_no_heavy_library():
    heavy = "{'numpy', 'scipy', 'numba', 'pyarrow', 'pandas', 'polars', 'sqlglot'}"
    code = f"import sys, sfumato, sfumato.cli; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_only_one_place_compiles_kernels_and_decides_where_their_code_is_kept():
    direct = [path.name for path in ROOT.rglob("*.py") if re.search(r"from numba import.*jit|numba\.n?jit", path.read_text())]
    assert direct == ["_jit.py"]


def test_kernels_are_where_their_changes_are_seen():
    """Compiled code is good for one state of the files named so, and they take nothing that is compiled in from elsewhere."""
    for path in ROOT.rglob("*.py"):
        text = path.read_text()
        if path.match("_*kernel*.py"):
            taken = re.findall(r"^from sfumato\.?(\S*) import", text, re.M)
            assert all(name in ("_jit", "arrays") or "kernel" in name.rpartition(".")[2] for name in taken), path
        else:
            assert path.name == "_jit.py" or "_jit import" not in text, path


def test_every_public_name_exists():
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None
    assert set(sfumato.__all__) <= set(dir(sfumato))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sfumato.nothing  # noqa: B018


def test_files_stay_readable():
    long = [path.name for path in ROOT.rglob("*.py") if len(path.read_text().splitlines()) > 500]
    assert long == []


WALK = """
import os, sys, tempfile, threading
import pyarrow.csv
import sfumato as sf
from sfumato.table.generators import census

root = os.path.dirname(sf.__file__)


def crossed(work):
    seen = set()

    def called(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root) and frame.f_code.co_name != "<module>":
            seen.add(name)

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(seen)


quasi = ["age", "gender", "education", "marital", "race", "workclass", "country"]
schema = sf.Schema(quasi=quasi, sensitive=["occupation"], other=["salary"])
rule = sf.FPrivacy(theta=8, offset="0.02")
with tempfile.TemporaryDirectory() as folder:
    pyarrow.csv.write_csv(census(2000, seed=1), f"{folder}/table.csv")
    publish = lambda name: sf.publish(sf.Table.read(f"{folder}/table.csv", schema), rule, random=1).save(f"{folder}/{name}")
    audit = lambda: sf.audit(f"{folder}/first")
    count = lambda: sf.Release.load(f"{folder}/first").count("SELECT COUNT(*) FROM t WHERE age >= 40 AND occupation IN (1, 2, 3)")
    publish("first"), audit(), count()  # what is loaded and learned once is no part of the walk
    print(crossed(lambda: publish("second")), crossed(audit), crossed(count))
"""


def test_the_walk_through_a_publication_an_audit_and_a_count_stays_short():
    """Files in which a function runs: from a CSV file to a saved release, its audit, and one count of it."""
    walked = subprocess.run([sys.executable, "-c", WALK], capture_output=True, text=True, check=True).stdout.split()
    assert [int(files) <= most for files, most in zip(walked, (53, 27, 33), strict=True)] == [True] * 3, walked
