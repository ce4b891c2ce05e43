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
    "_jit": {"places", "progress"},
    "arrays": set(),
    "basis": set(),
    "form": set(),
    "schemas": set(),
    "parameters": {"errors", "exact"},
    "plugins": {"errors"},
    "charts": {"errors", "notebook"},
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
    "release": {"notebook", "_jit", "arrays", "basis", "errors", "exact", "form", "places", "schemas", "table"},
    "query": {
        "notebook",
        "_jit",
        "arrays",
        "charts",
        "errors",
        "exact",
        "places",
        "plugins",
        "randomness",
        "table",
        "release",
        "__version__",
    },
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
        "form",
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
        "release",
        "__version__",
    },
    "scale": {
        "arrays",
        "auditor",
        "errors",
        "form",
        "groups",
        "methods",
        "plugins",
        "privacy",
        "progress",
        "randomness",
        "randomize",
        "release",
        "request",
        "table",
    },
}
GUESTS = {"papers", "synthetic", "studio"}
MAY_USE_GUESTS = {"studies": {"papers"}}  # these ask the papers' own figures again
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


def public_names():
    """Return the names of each module that docs/extending.md calls public."""
    text = (ROOT.parents[1] / "docs" / "extending.md").read_text()
    rows = re.findall(r"^\| `(sfumato[\w.]*)` \| (.*) \|$", text, re.M)
    return {module: set(re.findall(r"`(\w+)`", names)) for module, names in rows}


def foreign_imports(path):
    """Return the modules and names that a file takes from sfumato; a name is None where it takes a whole module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sfumato":
            yield from ((node.module, alias.name) for alias in node.names)
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "sfumato")


EXTENSION = Path(__file__).parent / "extension" / "src" / "sfumato_slices"


@pytest.mark.parametrize("home", [*(ROOT / guest for guest in sorted(GUESTS)), EXTENSION], ids=lambda home: home.name)
def test_a_guest_takes_what_is_called_public(home):
    """Guests are written as other people's packages are; `sfumato.x` where a name of the top level is meant."""
    public, own = public_names(), f"sfumato.{home.name}"
    for path in home.rglob("*.py"):
        for module, name in foreign_imports(path):
            if module == own or module.startswith(f"{own}.") or name is None:
                assert module in ("sfumato", *public) or module.startswith(own), f"{path.name} imports {module}"
            elif module == "sfumato":
                assert name in sfumato.__all__ or f"sfumato.{name}" in (own, *public), f"{path.name} imports {name}"
            else:
                assert name in public.get(module, ()), f"{path.name} takes {name} from {module}"


def test_what_is_called_public_is_there():
    from importlib import import_module

    for module, names in public_names().items():
        assert names
        for name in names:
            assert hasattr(import_module(module), name), f"{module}.{name}"


def test_nothing_takes_from_a_guest():
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0]
        if room in GUESTS:
            continue
        allowed = MAY_USE_GUESTS.get(room, set())
        for target, _ in imports(path):
            assert target not in GUESTS - allowed or path == ROOT / "__init__.py", f"{path.name} imports {target}"


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
    from sfumato.form import FORMS

    for form in FORMS:
        for room in ("release", "query", "auditor"):
            assert (ROOT / room / f"{form}.py").is_file()


def test_nobody_asks_which_method_or_which_form_it_is():
    """What differs by method or form stands in one registry a room, or in the classes themselves."""
    from sfumato.methods import METHODS

    kinds = {kind.__name__ for kind in METHODS.values()}
    kinds |= {"BucketsRelease", "ColumnsRelease", "RandomizedRelease", "RangesRelease", "SyntheticRelease", "ViewsRelease"}
    kinds |= {"Randomizing", "Linking", "Synthesizing"}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
                asked = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
                assert not asked & kinds, f"{path.name}:{node.lineno}"
            if isinstance(node, ast.Compare) and re.search(r"method\.name$", ast.unparse(node.left)):
                named = {one.value for one in ast.walk(node.comparators[0]) if isinstance(one, ast.Constant)}
                named |= {one.id for one in ast.walk(node.comparators[0]) if isinstance(one, ast.Name)}
                assert not named & {*kinds, *METHODS}, f"{path.name}:{node.lineno}"


def test_nobody_compares_the_name_of_a_basis_or_a_form():
    """What follows from either is an attribute of its object, in `basis.py` and `form.py`, or an entry of a room's registry."""
    from sfumato.basis import BASES
    from sfumato.form import FORMS

    names = {"basis": set(BASES), "form": set(FORMS)}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Compare):
                continue
            sides = [node.left, *node.comparators]
            words = {one.value for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant)}
            for kind, known in names.items():
                if any(re.search(rf"\b{kind}$", ast.unparse(side)) for side in sides):
                    assert not words & known, f"{path.name}:{node.lineno}"


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


def test_no_module_has_the_name_of_a_verb():
    """Importing `sfumato.explain` would put a module where the function of that name is found."""
    modules = {path.stem for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert not modules & set(sfumato.__all__)
    code = (
        "import pkgutil, types, sfumato; "
        "found = [m.name for m in pkgutil.iter_modules(sfumato.__path__)]; "
        "[__import__('sfumato.' + name) for name in found if name not in ('__main__', 'studio')]; "
        "print(sorted(n for n in sfumato.__all__ if isinstance(getattr(sfumato, n), types.ModuleType)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_files_stay_readable():
    long = [path.name for path in ROOT.rglob("*.py") if len(path.read_text().splitlines()) > 500]
    assert long == []


def test_a_refusal_is_expected_by_its_kind_and_by_what_it_names_and_not_by_its_sentence():
    patterns = [
        (path.name, one.value.value)
        for path in Path(__file__).parent.rglob("test_*.py")
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(one, ast.keyword) and one.arg == "match" and isinstance(one.value, ast.Constant)
    ]
    assert len(patterns) > 100
    assert [told for told in patterns if len(re.findall(r"[^\W\d_]{2,}", re.sub(r"\\.", " ", told[1]))) > 8] == []
