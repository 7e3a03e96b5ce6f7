"""The rooms and what they may import (the table of the architecture); the judge shares no code with the judged."""

from __future__ import annotations

import ast
import itertools
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from tests.trees import parsed

ROOT = Path(__file__).resolve().parents[1]
COMMON = {"arrays", "errors"}
ROOMS = {
    "commands": set(),
    "compiled": {"commands"},
    "forces": {"compiled"},
    "model": set(),
    "lines": {"commands"},
    "deck": {"commands", "lines", "model"},
    "assembly": {"compiled", "forces", "model"},
    "runs": {"commands", "compiled", "deck", "model"},
    "linear": {"assembly", "compiled", "forces"},
    "show": {"assembly", "commands", "deck", "model", "runs"},
    "solve": {"assembly", "compiled", "forces", "linear", "lines", "model", "runs"},
    "study": {
        "assembly",
        "commands",
        "compiled",
        "deck",
        "forces",
        "linear",
        "model",
        "runner",
        "runs",
        "show",
        "solve",
    },
    "codes": {"assembly", "commands", "deck", "driven", "forces", "model", "runs", "show", "study"},
    "app": {"commands", "deck", "lines", "model", "runs", "show"},
}
BESIDE = ("app", "codes", "lines", "show")
OPEN = ("arrays", "commands", "driven", "errors", "model", "runs")
DOOR = {
    "assembly.cases": {"Span"},
    "assembly.environment": {"Environment", "LoadSet", "first_environment", "load_set", "next_environment"},
    "assembly.rigidity": {"count", "members_of", "not_counted"},
    "assembly.sudden": {"pull", "sudden"},
    "assembly.supports": {"FREE"},
    "assembly.system": {"System", "assemble"},
    "deck": {"answered", "parse_deck", "read_model"},
    "deck.cards": {"NUMBER"},
    "deck.forms": {"stiffness_of", "strains_of"},
    "deck.kinds": {"number"},
    "deck.parameters": {"ArithmeticMistake", "evaluate"},
    "deck.sections": {"LISTED", "OTHERS"},
    "deck.writer": {"card", "rows_of", "write_deck"},
    "forces": {"bar"},
    "forces.laws": {"TABLE"},
}
"""What rooms beside the core may ask of it, besides descriptions (``model``), results (``runs``) and what all share:
names that have to keep their meaning while the core changes. Nothing of ``linear``, ``solve`` and ``compiled``."""
ARRAYS = (ast.Name, ast.Attribute)
INNER = {"inner_kernel", "called_kernel", "single_kernel", "number_kernel"}


@cache
def tree_of(path: Path) -> ast.Module:
    """Of a file of ours, which several tests look at."""
    return parsed(path.read_text(encoding="utf-8"))


def imports(path: Path) -> set[str]:
    """Rooms and top modules of ours that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(tree_of(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("fem.") and "." in name}
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_imports_flow_downhill(room):
    for path in (ROOT / "fem" / room).rglob("*.py"):
        foreign = imports(path) - ROOMS[room] - COMMON - {room}
        assert not foreign, f"{path} imports {sorted(foreign)}"


def test_rooms_beside_the_core_come_through_the_door():
    """The table has every name that they take, and none that they do not."""
    taken: dict[str, set[str]] = {}
    for room in BESIDE:
        for path in (ROOT / "fem" / room).rglob("*.py"):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fem."):
                    module = str(node.module).removeprefix("fem.")
                    if module.split(".")[0] not in {*OPEN, *BESIDE, "study"}:
                        taken.setdefault(module, set()).update(alias.name for alias in node.names)
    assert taken == DOOR


def needs(node: ast.AST, modules: set[str]) -> set[str]:
    """Modules of ours that code imports as it is read: not inside functions, nor for types alone. Where a module is
    taken from its package, the package counts, too.
    """
    if isinstance(node, ast.FunctionDef):
        return set()
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return set().union(*(needs(child, modules) for child in node.orelse))
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & modules
    if isinstance(node, ast.ImportFrom):
        return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & modules
    return set().union(*(needs(child, modules) for child in ast.iter_child_nodes(node)))


def test_no_circle_of_imports():
    """No file is read while it is being read, through however many others."""
    paths = {}
    for path in (ROOT / "fem").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    modules = set(paths)
    trees = {name: tree_of(path) for name, path in paths.items()}
    TopologicalSorter({name: needs(tree, modules) - {name} for name, tree in trees.items()}).prepare()


def test_every_room_is_in_the_table():
    assert {path.name for path in (ROOT / "fem").iterdir() if (path / "__init__.py").exists()} == set(ROOMS)


@cache
def imported_modules() -> dict[str, set[str]]:
    """Module -> modules of ours it imports, anywhere in its text: in functions and for types, too."""
    paths = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in (ROOT / "fem").rglob("*.py")}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        nodes = list(ast.walk(tree_of(path)))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= {one if one in paths else str(node.module) for one in full}
        found[name] = (names & set(paths)) - {name}
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of names that reach each other."""
    names = sorted(graph)
    reached = np.array([[other in graph[name] for other in names] for name in names])
    count, group = connected_components(reached, directed=True, connection="strong")
    groups = [[name for name, its in zip(names, group, strict=True) if its == which] for which in range(count)]
    return [members for members in groups if len(members) > 1]


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_modules_import_each_other_in_no_circle():
    """Late imports and those for types count."""
    assert not circles(imported_modules())


def test_rooms_import_each_other_in_no_circle():
    """Rooms, and modules beside them; ``fem`` itself knows names only."""
    rooms: dict[str, set[str]] = {}
    for name, others in imported_modules().items():
        if name != "fem":
            room = name.split(".")[1]
            rooms[room] = rooms.get(room, set()) | {other.split(".")[1] for other in others - {"fem"}} - {room}
    assert not circles(rooms)


def test_sub_folders_import_each_other_in_no_circle():
    """Folders within rooms, and modules beside them."""
    folders: dict[str, set[str]] = {}
    for name, others in imported_modules().items():
        mine = ".".join(name.split(".")[:3])
        found = {".".join(other.split(".")[:3]) for other in others}
        outside = {other for other in found if not f"{mine}.".startswith(f"{other}.")}
        folders[mine] = folders.get(mine, set()) | {other for other in outside if not other.startswith(f"{mine}.")}
    assert not circles(folders)


def test_references_share_no_code_with_the_program():
    for path in (ROOT / "validation" / "references").rglob("*.py"):
        names = {
            alias.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not {name for name in names if name and name.split(".")[0] == "fem"}, path


@pytest.mark.long
def test_python_calls_no_inner_kernel():
    """Inner kernels have no entry for Python: only kernels call them."""
    inner, calls = set(), []
    for path in (ROOT / "fem").rglob("*.py"):
        tree = tree_of(path)
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        origin = {
            alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            decorators = {node.id for node in function.decorator_list if isinstance(node, ast.Name)}
            if decorators & INNER:
                inner.add(f"{module}.{function.name}")
            elif not decorators & {"kernel", "shared_kernel"}:
                names = [
                    node.func.id for node in ast.walk(function) if isinstance(getattr(node, "func", None), ast.Name)
                ]
                calls += [origin.get(name, f"{module}.{name}") for name in names]
    assert len(inner) > 10
    assert not inner & set(calls)


@pytest.mark.long
def test_inner_kernels_are_given_arrays_apart():
    """The compiler is told that the arrays of an inner kernel do not overlap: none that it may write comes twice."""
    trees = [tree_of(path) for path in (ROOT / "fem").rglob("*.py")]
    writers = {
        function.name
        for tree in trees
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and INNER & {node.id for node in function.decorator_list if isinstance(node, ast.Name)}
        and any(isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in ast.walk(function))
    }
    assert len(writers) > 30
    for tree in trees:
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in writers:
                given = [ast.unparse(argument) for argument in call.args if isinstance(argument, ARRAYS)]
                doubled = [a for a, b in itertools.permutations(given, 2) if a == b or b.startswith(f"{a}.")]
                assert not doubled, f"{call.func.id} is given {doubled} twice"
