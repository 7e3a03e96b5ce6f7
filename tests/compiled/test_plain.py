"""Plain numba in place of our own way to machine code: when it is taken, and that it gives the same answers."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from fem import errors as notices
from fem.compiled import choice, compiler, folder
from fem.errors import CommandError

ROOT = Path(__file__).resolve().parents[2]
KERNELS = """
import numpy as np
from typing import NamedTuple
from fem.compiled import called_kernel, inner_kernel, is_compiled, kernel, number_kernel
from fem.compiled.lanes import Fixed, Lanes

class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray | None

@inner_kernel
def doubled(x: float) -> float:
    return 2.0 * x

@called_kernel
def halves(x: float) -> tuple[float, bool]:
    return 0.5 * x, x > 0.0

@number_kernel
def larger(x: float, y: float) -> float:
    return max(x, y)

@kernel
def several(x, pair, number, factor, sign, shift=0.5):
    total = shift
    for k in range(x.shape[0]):
        total += halves(factor * x[k] * pair.first[k, number])[0]
    return (doubled(total) if sign else larger(-total, total / 0.0)), x.shape[0], total > 0.0

@kernel
def lanes(store, values, curve, known):
    for node in range(known.shape[0]):
        store[known[node]] = store[known[node]] + curve[node] * values[node, 1]
"""
CALLS = """
x, first = np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
for sign in (True, False):
    for second in (None, np.array([100.0])):
        found = several(x, Pair(first, second), 1, 2.0, sign)
        assert found == ((21.0 if sign else np.inf), 2, True), found
        assert [type(one) for one in found] == [float, int, bool]
assert several(x, Pair(first, None), 1, 2.0, True, shift=0.0)[0] == 20.0
for outside in (lambda: doubled(1.0), lambda: several(first[:, 1], Pair(first, None), 1, 2.0, True)):
    try:
        outside()
    except TypeError:
        continue
    raise SystemExit("a call that is an error for our own machine code")
store, values = Lanes(3, 8), Lanes(2, 2, 8, known=2)
values.array[:] = np.arange(32.0).reshape(2, 2, 8)
given = store, values, np.array([1.0, 0.5]), Fixed(np.array([2, 0]))
"""
SHIMS = {
    "a function is gone": "import numba.core.typing.templates as changed; del changed.fold_arguments",
    "arguments are taken another way": """
import numba.core.compiler as changed
before = changed.compile_extra
changed.compile_extra = lambda typing, target, function, **named: before(typing, target, function, **named)""",
}
BROKEN = {
    "a class is gone": "del changed.JITCPUCodegen",
    "a method is gone": "del changed.CPUCodeLibrary._optimize_final_module",
}


def run(code: str, folder: Path, compiler: str) -> subprocess.CompletedProcess[str]:
    """A script of its own: what numba does with kernels is decided once in a process."""
    script = folder / "script.py"
    script.write_text("from __future__ import annotations\n" + code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FEM_CACHE_DIR": str(folder), "FEM_COMPILER": compiler}
    return subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)


@pytest.mark.long
def test_plain_numba_does_what_our_machine_code_does(tmp_path: Path) -> None:
    lanes = "lanes(*given); assert is_compiled(lanes, *given); print(store.array.tolist())"
    answers = [run(KERNELS + CALLS + lanes, tmp_path, compiler) for compiler in ("wait", "numba")]
    assert [(answer.returncode, answer.stderr) for answer in answers] == [(0, "")] * 2
    assert answers[0].stdout == answers[1].stdout and "[0.0, 0.0" in answers[0].stdout


@pytest.mark.long
def test_what_a_call_leaves_out_is_compiled_ahead_as_its_default(tmp_path: Path) -> None:
    ahead = """
from fem.compiled.kernel import kinds_of
from fem.compiled.dispatchers import compile_plain, dispatcher
given = np.array([1.0, 2.0]), Pair(np.array([[1.0, 2.0], [3.0, 4.0]]), None), 1, 2.0, True
compile_plain(several, kinds_of(given))
assert is_compiled(several, *given)
assert several(*given) == (21.0, 2, True)
assert len(dispatcher(several).overloads) == 1  # what was compiled ahead is what runs
"""
    answer = run(KERNELS + ahead, tmp_path, "numba")
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.long_cases("numba", "wait")
@pytest.mark.parametrize("compiler", ["wait", "numba"])
def test_a_kernel_with_another_function_is_another_one_for_arguments_of_other_kinds(
    compiler: str, tmp_path: Path
) -> None:
    """As when a family of forces is registered after a run without it."""
    changed = """
@kernel
def asks(x):
    return doubled(x)

assert asks(1.5) == 3.0
doubled.function = lambda x: 3 * x
assert asks(1) == 3
"""
    answer = run(KERNELS + changed, tmp_path, compiler)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.long_cases("a function is gone")
@pytest.mark.parametrize("changed", SHIMS)
@pytest.mark.sampled(1)
def test_a_numba_that_has_changed_gives_one_sentence_and_the_same_answers(changed: str, tmp_path: Path) -> None:
    answer = run(SHIMS[changed] + KERNELS + CALLS, tmp_path, "wait")
    assert answer.returncode == 0, answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert "does not fit the compiler of fem" in answer.stderr and choice.SUITED in answer.stderr


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.sampled(1)
def test_a_numba_that_compiles_nothing_is_an_error_that_says_so(broken: str, tmp_path: Path) -> None:
    code = f"import numba.core.codegen as changed; {BROKEN[broken]}{KERNELS}{CALLS}"
    answer = run(code, tmp_path, "wait")
    assert "CommandError: numba, which compiles the solver, compiles nothing here" in answer.stderr


@pytest.mark.long
def test_a_fault_of_a_kernel_is_not_blamed_on_numba(tmp_path: Path) -> None:
    code = KERNELS + "\n@kernel\ndef wrong(x):\n    return x.nothing_of_that_name\nwrong(np.zeros(3))\n"
    answer = run(code, tmp_path, "wait")
    assert answer.returncode == 1
    assert "nothing_of_that_name" in answer.stderr and "does not fit" not in answer.stderr


# --------------------------------------------------------------------------------------------------------- the decision
@pytest.fixture(autouse=True)
def undecided(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is decided, nothing was said."""
    monkeypatch.setenv(choice.COMPILER, "")
    monkeypatch.setattr(notices, "_told", set())
    monkeypatch.setattr(choice, "misfits", [])
    decisions = (choice.is_of_known_version, compiler.fits)
    for decision in decisions:
        decision.cache_clear()
    yield
    for decision in decisions:
        decision.cache_clear()


def test_versions_are_those_of_the_metadata() -> None:
    assert choice.installed("nothing_of_this_name") == ""
    assert {name: choice.installed(name) for name in ("numpy", "numba")} == {
        name: version(name) for name in ("numpy", "numba")
    }


@pytest.mark.parametrize("version", ["0.59.1", "0.69.0", "0.70.0rc1", "1.0", "1.61.2"])
def test_versions_that_were_never_run_are_not_tried(version: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(choice, "numba_version", lambda: version)
    assert choice.is_plain() and choice.is_plain()
    said = capsys.readouterr().err
    assert said.count("does not fit") == 1 and f"numba {version}" in said and "pip install" in said
    assert os.environ["FEM_COMPILER"] == "numba"  # processes of ours do the same


@pytest.mark.parametrize("version", ["0.60.0", "0.61.2", "0.68.1", "0.68.1rc2", ""])
def test_versions_that_were_run_are_taken(version: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(choice, "numba_version", lambda: version)
    assert not choice.is_plain()
    assert not capsys.readouterr().err


def test_a_misfit_is_found_out_once_and_told_at_every_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv("FEM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(folder, "misfits", choice.misfits)
    folder.cache_folder.cache_clear()
    try:
        assert folder.is_first_start()
        choice.take_plain("it lacks something")
        folder.mark_warm()
        assert capsys.readouterr().err.count("it lacks something") == 1
        monkeypatch.setenv("FEM_COMPILER", "")  # another start
        notices._told.clear()
        folder.cache_folder.cache_clear()
        assert not folder.is_first_start() and choice.is_plain()
        assert capsys.readouterr().err.count("it lacks something") == 1
    finally:
        folder.cache_folder.cache_clear()


def test_the_versions_are_those_of_the_installation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert choice.SUITED in project["dependencies"]


def test_a_compiler_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEM_COMPILER", "gcc")
    with pytest.raises(CommandError, match="FEM_COMPILER may be numba, wait, python or empty, not 'gcc'"):
        choice.is_plain()


def test_without_numba_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(CommandError, match=f"pip install '{choice.SUITED}'"):
        compiler.fits()


SIGNALS = """
import ctypes, signal
from fem.commands.signals import stoppable
from fem.compiled.dispatchers import nothing_lost
from fem.errors import Stopped
for stumbles in (True, False):
    before, code = signal.getsignal(signal.SIGTERM), 0
    try:
        with stoppable(), nothing_lost():
            ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGTERM))()
            if stumbles:
                raise RuntimeError("no compiled object yet")
    except Stopped as stopped:
        code = stopped.exit_code
    assert code == 143, code
    assert signal.getsignal(signal.SIGTERM) is before
"""


def test_a_signal_while_numba_compiles_is_not_lost() -> None:
    """numba swallows what a handler raises in a callback of LLVM, then stumbles over code that is not there, or not.

    In a process of its own: what plain numba registers stays for good.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SIGNALS], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_kernels_as_python_functions_do_the_same(tmp_path: Path) -> None:
    answers = [run(KERNELS + CALLS, tmp_path, compiler) for compiler in ("wait", "python")]
    assert [(answer.returncode, answer.stderr) for answer in answers] == [(0, "")] * 2
    assert answers[0].stdout == answers[1].stdout
