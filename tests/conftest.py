"""Compile the kernels once, before the processes that share the tests start; the tests of a file stay together; one
browser for all tests of a process.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

LONGEST = (
    "sensitivity/test_every_deck.py", "sensitivity/test_ropes.py", "sensitivity/test_derivatives.py",
    "sensitivity/test_mooring_lines.py", "sensitivity/test_laws_with_memory.py", "solve/test_decks_in_lanes.py",
    "solve/test_begun_lanes.py", "chaos/test_basins.py",
    "test_pages.py", "test_fuzzed_files.py", "solve/test_absurd_numbers.py", "test_ends.py", "chaos/test_neighbour.py",
    "sweeping/test_lanes.py", "solve/test_lanes.py", "solve/test_lane_counts.py", "solve/test_lane_extremes.py",
    "forces/families/", "solve/test_going_on.py", "deck/test_outline.py", "compiled/test_background.py",
    "sweeping/test_dask.py",
    "solve/test_solvers_agree.py", "test_architecture.py", "reports/test_report.py", "pictures/test_plot.py",
    "solve/test_fuzzed_runs.py", "compiled/test_plain.py", "branches/test_orbits.py", "chaos/test_saltation.py",
    "chaos/test_exponents.py", "test_stepper.py", "test_python.py", "test_docs.py", "test_compiled.py",
    "sweeping/test_losses.py", "app/browser/", "sweeping/test_fit.py", "chaos/test_sections.py",
    "forces/test_vortices.py", "moordyn/test_syrope.py", "validation/test_cases.py",
)  # fmt: skip
"""What takes more than 7 s of processor time with the tests that are marked `long`, and with lanes that are not
compiled yet, about the longest first; cases, which are handed out one by one, fill the rest. What compiles marches is
in the first half of the long tests, with which one process begins, so that the other does not wait for the lock of the
cache; and not all of it side by side, for the sake of the suite, which is handed out file by file."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of all that a shell starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # so tests that send it, and their processes, see it

os.environ.setdefault("FEM_COMPILER", "wait")  # tests are of machine code, whether it is there yet or not
settings.register_profile(
    "same", deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow], derandomize=True,
    database=None, print_blob=True,
)  # fmt: skip
settings.register_profile("new", parent=settings.get_profile("same"), derandomize=False, max_examples=30)
settings.load_profile("same")
"""Two who type the same command see the same examples, a third of them; ``--hypothesis-profile new`` draws others, and
all of them, as `.ci/run` does."""
if hasattr(providers, "_get_local_constants"):
    # It also draws the numbers that stand in modules: those that are loaded depend on what a process has tested before.
    providers._get_local_constants = providers.Constants


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Only the process that hands out the tests compiles; the others find its work in the cache. Plain numba takes so
    long that it compiles only what is called; kernels that stay Python functions are not compiled at all."""
    is_first = not hasattr(session.config, "workerinput") and not session.config.option.collectonly
    if is_first and os.environ["FEM_COMPILER"] != "python":
        from fem.compiled.choice import is_plain
        from fem.compiled.folder import is_first_start
        from tests.kernels import compile_kernels

        if is_first_start() and not is_plain():
            compile_kernels()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Cases that a test marked ``sampled`` can do without become long. The longest files first: short ones are left for
    the end, when one process would wait for the other.
    """
    sampled: dict[str, list[pytest.Function]] = {}
    draw_fewer({item.function for item in items if isinstance(item, pytest.Function)})
    for item in items:
        long_cases = item.get_closest_marker("long_cases")
        if long_cases and item.nodeid.partition("[")[2][:-1] in long_cases.args:
            item.add_marker("long")
        if isinstance(item, pytest.Function) and item.get_closest_marker("sampled") and not is_long(item):
            sampled.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in sampled.values():
        mark = cases[0].get_closest_marker("sampled")
        count = mark.args[0] if mark and mark.args else None
        kept = spread(len(cases), count) if count else covering([values_of(case) for case in cases])
        for place in set(range(len(cases))) - kept:
            cases[place].add_marker("long")
    items.sort(key=lambda item: next((k for k, path in enumerate(LONGEST) if path in item.nodeid), len(LONGEST)))


def draw_fewer(tests: set[Any]) -> None:
    """The examples that are the same for all: a third of those that a test asks for."""
    if not settings.default.derandomize:
        return
    for test in tests:
        asked = getattr(test, "_hypothesis_internal_use_settings", None)
        if asked is not None:
            test._hypothesis_internal_use_settings = settings(asked, max_examples=max(4, asked.max_examples // 3))


def is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def spread(cases: int, count: int) -> set[int]:
    """So many places, evenly apart."""
    return {cases * k // count for k in range(count)}


def values_of(case: pytest.Function) -> set[tuple[str, object]]:
    """Names and values of its parameters; large ones by where they are."""
    plain = (str, int, float, type(None))
    return {(name, value if isinstance(value, plain) else id(value)) for name, value in case.callspec.params.items()}


def covering(cases: list[set[tuple[str, object]]]) -> set[int]:
    """Places of enough cases for each value of each parameter, always the one with most that are in none yet."""
    left, kept = set[tuple[str, object]]().union(*cases), set[int]()
    while left:
        best = max(range(len(cases)), key=lambda place: len(left & cases[place]))
        kept.add(best)
        left -= cases[best]
    return kept


def pytest_collection_finish() -> None:
    """Tests and modules stay: the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hands out files whole: what they share is made once. Under pytest 9.2, pytest-xdist 3.8 forgets marked groups.

    In the order of the collection, not by the number of their tests, which says nothing of their time.
    """
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return Files(config, log)


def scope_of(nodeid: str) -> str:
    """Its file; toy families are all in one process, each compiles what is not of fem; cases and decks share none."""
    path = nodeid.partition("::")[0]
    if path.endswith(("validation/test_cases.py", "tests/test_examples.py")):
        return nodeid
    return path.rpartition("/")[0] if "/families/" in path else path


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium without a screen, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by the extra test-app")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
