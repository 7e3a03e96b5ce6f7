"""Machine code: what kernels take and return, how units are kept, what a run needs to start."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import fem
from fem.assembly.equations import Equations, condense, expand
from fem.compiled import bound, called_kernel, inner_kernel, is_compiled, kernel, shared_kernel
from fem.compiled import store as units
from fem.compiled.choice import is_plain
from fem.compiled.compiler import LateCompiler
from fem.compiled.digest import digest_of
from fem.compiled.interpreted import rehearsal
from fem.compiled.kernel import Kernel
from fem.compiled.store import symbol_of
from fem.compiled.translate import build
from fem.compiled.workers import build_all
from fem.runs.record import Requests, SilentSink
from fem.solve.loop import solve
from fem.solve.newton.evaluate import combine
from fem.study.warmup import wanted_units
from tests.kernels import wet_units
from tests.machine_code import come_back

ROOT = Path(__file__).resolve().parents[1]
ours = pytest.mark.skipif(is_plain(), reason="plain numba compiles, and keeps its code its own way")


class Pair(NamedTuple):
    """A group with a member that may be missing, where it is not asked for."""

    first: np.ndarray
    second: np.ndarray | None


@kernel
def several(x: np.ndarray, pair: Pair, number: int, factor: float, sign: bool, shift: float = 0.5) -> tuple:
    total = shift
    for k in range(x.shape[0]):
        total += factor * x[k] * pair.first[k, number]
    return total if sign else -total, x.shape[0], total > 0.0


@shared_kernel
def weighed(factor: float, x: np.ndarray, groups: tuple, shift: int) -> float:
    total = float(shift)
    for k in range(x.shape[0]):
        total += factor * x[k] * groups[0].first[k, 0] * groups[1].first[k, 0]
        x[k] += 1.0
    return total


@pytest.mark.long
def test_a_bound_call_keeps_its_arrays_and_reads_where_they_lie_once():
    """Law: it is the call with these arguments, however often, whatever happens to names of its arrays."""
    x, first, other = np.array([1.0, 2.0]), np.array([[3.0], [4.0]]), np.array([[10.0], [100.0]])
    groups = Pair(first, None), Pair(other, np.zeros(3))
    call, twice = bound(weighed, 0.0, x, groups, 5), bound(weighed, 2.0, x.copy(), groups, 7)
    assert call(1.0) == 5.0 + 1.0 * 30.0 + 2.0 * 400.0
    assert twice() == 7.0 + 2.0 * (1.0 * 30.0 + 2.0 * 400.0)
    first[1, 0] = 0.0  # in place: seen
    assert call(1.0) == 5.0 + 2.0 * 30.0
    assert x.tolist() == [3.0, 4.0]
    for array in (x, first, other):
        with pytest.raises(ValueError, match="resize"):
            array.resize((1, 1) if array.ndim > 1 else 1)
    seen = [weakref.ref(array) for array in (x, first, other)]
    groups = Pair(np.ones((2, 1)), None), groups[1]  # replaced: another call
    assert bound(weighed, 1.0, x, groups, 0)() == 3.0 * 10.0 + 4.0 * 100.0
    del x, first, other, groups, array, twice
    gc.collect()
    rooms = [np.full(2, np.nan) for _ in range(100)]  # would come to lie where freed arrays lay
    assert call(3.0) == 5.0 + 3.0 * 4.0 * 30.0 and len(rooms) == 100
    assert all(each() is not None for each in seen)
    del call
    gc.collect()
    assert [each() for each in seen] == [None, None, None]


def test_a_kernel_takes_arrays_groups_and_numbers_and_returns_numbers():
    x, first = np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
    for sign in (True, False, np.bool_(True)):
        for second in (None, np.array([100.0])):
            pair = Pair(first, second)
            given = several(x, pair, np.int64(1), 2.0, sign)
            assert given == several.function(x, pair, 1, 2.0, sign)
            assert [type(one) for one in given] == [float, int, bool]
    assert several(x, Pair(first, None), 1, np.float64(2.0), True, shift=0.0)[0] == 20.0


@kernel
def first_of(x: np.ndarray) -> float:
    while x.ndim < 0:  # one source for any dimensions
        pass
    return x.size + 0.25


def test_the_code_tests_item_types_and_dimensions():
    for given in (np.zeros(3), np.zeros((2, 2)), np.zeros(3, np.int64), np.zeros(3, np.uint8), np.zeros((1, 1, 1))) * 2:
        assert first_of(given) == given.size + 0.25
    assert is_plain() or len(first_of.variants) == 5
    with pytest.raises(TypeError, match="C-contiguous"):
        first_of(np.zeros((4, 4))[:, 1])


@kernel
def rows_and_items(x: np.ndarray, k: int) -> float:
    row = x[k]
    row[-1, 0] = row[0, 1] + row.shape[0]
    return 10.0 * row[-1, 0] + row.size


@kernel
def middle_of(x: np.ndarray) -> float:
    return x[0, 1:-1][0]


def test_kernels_take_rows_and_items_of_arrays_and_no_slices():
    x = np.arange(0.0, 24.0, 2.0).reshape(2, 3, 2)
    assert rows_and_items(x, 1) == rows_and_items.function(x.copy(), 1) == 176.0
    assert x[1, 2, 0] == 17.0
    if not is_plain():
        with pytest.raises(Exception, match="no slices"):
            middle_of(np.zeros((2, 3)))


@inner_kernel
def doubled(x: float) -> float:
    return 2.0 * x


@called_kernel
def halves(x: float) -> tuple[float, bool]:
    return 0.5 * x, x > 0.0


@shared_kernel
def raised(x: float) -> float:
    return halves(x)[0] + 1.0


@kernel
def outermost(x: float) -> float:
    return doubled(raised(x)) if halves(x)[1] else raised(-x)


def test_kernels_call_kernels_inlined_or_not():
    assert (raised(3.0), outermost(3.0), outermost(-3.0)) == (2.5, 5.0, 2.5)
    with pytest.raises(TypeError, match="inner kernel"):
        doubled(1.0)


@called_kernel
def broken_promise(x: float) -> int:
    return x


@ours
def test_a_called_kernel_returns_what_its_annotation_says():
    @kernel
    def calls(x):
        return broken_promise(x)

    with pytest.raises(TypeError, match="not int64 as annotated"):
        calls(1.0)


ARRAY = ("array", "d", 2)
PAIRS = tuple(("group", Pair.__module__, Pair.__qualname__, (ARRAY, last)) for last in (ARRAY, "none"))
FAMILIES = [(), PAIRS[:1], PAIRS[:1] * 2, PAIRS]
"""Kinds of the groups of families: of one kind or of several."""


@pytest.mark.parametrize("units", [wet_units, wanted_units])
def test_the_kind_of_an_argument_comes_back_from_its_type(units, tmp_path, monkeypatch):
    """A called kernel that is given any other kind is compiled into all that call it: march, into carry, too.

    Those of the decks that come with the program are seen in ``tests/compiled/test_background.py``.
    """
    monkeypatch.setattr("fem.study.warmup.shipped", lambda: tmp_path)
    families = [("group", "builtins", "tuple", members) for members in FAMILIES]
    found = units()
    assert len(found) > 5 and come_back(families) and all(come_back(kinds) for _, kinds in found)


class Last(SilentSink):
    def rows(self, rows):
        self.last = rows


@pytest.mark.parametrize("solver", ["AUTO", "BAND", "CG"])
def test_machine_code_does_what_the_python_functions_do(solver):
    model = fem.read_deck(ROOT / "inputs" / "sdnl100.inp")
    python, machine = Last(), Last()
    with rehearsal() as called:
        solve(model, python, Requests(solver))
    solve(model, machine, Requests(solver))
    assert "fem.solve.newton.march:march" in {name for name, _ in called}
    assert np.array_equal(python.last.iterations, machine.last.iterations)
    assert machine.last.motion[:, 0] == pytest.approx(python.last.motion[:, 0], abs=1e-12)
    assert machine.last.strain == pytest.approx(python.last.strain, rel=1e-6, abs=1e-9)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """No unit is known but those made from now on."""
    from fem.compiled import folder

    monkeypatch.setenv("FEM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(units, "_made", {})
    folder.cache_folder.cache_clear()
    yield folder.cache_folder()
    folder.cache_folder.cache_clear()


def wanted() -> list:
    """Three small units."""
    links = Equations(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    with rehearsal() as called:
        combine(np.zeros((1, 3)), np.zeros((1, 1)), 0, np.zeros(3))
        expand(links, np.zeros(3))
        condense(links, np.zeros(3))
    return list(called)


@pytest.mark.long
@ours
def test_units_are_made_side_by_side_and_found_on_disk(empty_cache, monkeypatch):
    monkeypatch.setattr("fem.compiled.translate.build", None)  # other processes make them
    jobs = wanted()
    build_all(jobs)
    assert {path.stem for path in empty_cache.glob("*.unit")} == {symbol_of(*job) for job in jobs}
    assert is_compiled(combine, np.zeros((2, 6)), np.zeros((9, 2)), 4, np.zeros(6))
    assert not is_compiled(combine, np.zeros((2, 6)), np.zeros((9, 2)), 4.0, np.zeros(6))


@pytest.mark.long
@ours
def test_a_damaged_unit_is_not_loaded(empty_cache):
    job = wanted()[0]
    build_all([job])
    (path,) = empty_cache.glob("*.unit")
    content = path.read_bytes()
    for damaged in (content[:-1], content[:-1] + b"x", b"", b"{}\n"):
        path.write_bytes(damaged)
        units._made.clear()
        assert units.stored(*job) is None
    path.write_bytes(content)
    assert units.stored(*job) is not None


@pytest.mark.long
@ours
def test_a_unit_under_the_name_of_another_is_made_again(empty_cache):
    jobs = wanted()[:2]
    build_all(jobs)
    first, second = (empty_cache / f"{symbol_of(*job)}.unit" for job in jobs)
    first.write_bytes(second.read_bytes())
    units._made.clear()
    start, others, out = np.ones((1, 3)), np.full((1, 1), 2.0), np.zeros(3)
    Kernel(combine.function, combine.fast, combine.inner, combine.inline, combine.compiler)(start, others, 0, out)
    expected = np.zeros(3)
    combine.function(start, others, 0, expected)
    assert np.array_equal(out, expected) and first.read_bytes() != second.read_bytes()


@pytest.mark.long
@ours
def test_processes_that_compile_import_nothing_from_the_current_folder(empty_cache, tmp_path, monkeypatch):
    for name in ("numba.py", "llvmlite.py", "pickle.py", "fem/__init__.py", "fem/compiled/__init__.py"):
        path = tmp_path / "here" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'run')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("fem.compiled.translate.build", None)  # other processes make them
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(tmp_path / "here"), str(ROOT)]))
    jobs = wanted()
    build_all(jobs)
    assert len(list(empty_cache.glob("*.unit"))) == len(jobs)
    assert not (tmp_path / "run").exists()


@ours
def test_a_unit_is_made_when_it_is_called_first(empty_cache, monkeypatch):
    """Ctrl-C while it is made comes out of the call; the next call makes it."""

    @called_kernel
    def seldom(x: float) -> float:
        return 3.0 * x

    @shared_kernel
    def often(x: float) -> float:
        return seldom(x) if x > 1.0 else x

    (symbol,) = build(often, ("float",)).needs
    assert units.job_of(units.find(symbol_of(often.name, ("float",))), symbol) == (seldom.name, ("float",))
    assert often(0.5) == 0.5 and units.find(symbol) is None

    def interrupted(self, name, kinds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(LateCompiler, "provide", interrupted)
        often(2.0)
    assert (often(2.0), often(0.5), often(4.0)) == (6.0, 0.5, 12.0)
    assert units.find(symbol) is not None


@ours
def test_a_unit_does_not_change_with_those_that_it_calls():
    def digest(factor: float, inner: bool) -> str:
        decorator = inner_kernel if inner else called_kernel

        @decorator
        def seldom(x: float) -> float:
            return factor * x

        @kernel
        def often(x: float) -> float:
            return seldom(x)

        return digest_of(often, ("float",))

    assert digest(2.0, inner=False) == digest(3.0, inner=False)
    assert digest(2.0, inner=True) != digest(3.0, inner=True)


@ours
def test_without_processes_units_are_made_here(empty_cache, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    jobs = wanted()
    build_all(jobs)
    assert all(units.stored(*job) for job in jobs)


@ours
def test_without_room_only_what_is_called_is_made(empty_cache, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setattr(units, "write_file", full)
    jobs = wanted()
    assert not build_all(jobs)
    assert [units.stored(*job) is not None for job in jobs] == [True, False, False]


@pytest.mark.long_cases("run-sdnl100-more0", "sweep-pendulum_lumped-more1")
@ours
@pytest.mark.parametrize(
    ("command", "deck", "more"), [("run", "sdnl100", []), ("sweep", "pendulum_lumped", ["--vary", "period=2.3,2.4"])]
)
def test_a_run_needs_no_compiler_and_nothing_else_that_is_heavy(command, deck, more, tmp_path):
    words = [command, str(ROOT / "inputs" / f"{deck}.inp"), "--quiet", *more]
    code = (
        "import sys, numpy; of_numpy = set(sys.modules); import fem; from fem.__main__ import main;"
        f"code = main({words!r});"
        "heavy = {'numba', 'matplotlib', 'urllib.request', 'importlib.metadata', 'fem.solve.frequencies'};"
        f"heavy |= {{'numpy.ma'}} if {command!r} == 'run' else set();"
        "sys.exit(code or bool(heavy & (set(sys.modules) - of_numpy)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment).returncode == 0


class Inside(NamedTuple):
    factor: float
    x: np.ndarray


class Outside(NamedTuple):
    count: int
    inside: Inside
    is_on: bool


class Made(NamedTuple):
    shift: float
    outside: Outside
    x: np.ndarray


@called_kernel
def of_inside(inside: Inside, k: int) -> float:
    return inside.factor * inside.x[k]


@called_kernel
def of_made(made: Made, k: int) -> float:
    outside = made.outside
    on = 1.0 if outside.is_on else 0.0
    return made.shift + on * of_inside(outside.inside, k) + made.x[k] * outside.count


@kernel
def handed_over(outside: Outside, groups: tuple, k: int) -> float:
    """Groups from outside, their members, groups made here, and groups out of a tuple."""
    made = Made(0.25 * k, outside, outside.inside.x)
    again = Made(of_made(made, k), groups[1], groups[0].x)
    return of_made(again, k) + of_inside(groups[0], k) + of_inside(Inside(2.0, made.x), k)


def test_groups_reach_kernels_that_are_called_as_they_are():
    x = np.array([0.5, 1.5, 2.5])
    outside, other = Outside(3, Inside(1.25, x), True), Outside(2, Inside(-1.0, 2.0 * x), False)
    groups = (Inside(0.75, x + 1.0), other)
    for k in range(3):
        with rehearsal():
            expected = handed_over(outside, groups, k)
        assert handed_over(outside, groups, k) == expected
