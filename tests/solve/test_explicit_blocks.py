"""Large explicit models in blocks of nodes: the bytes of one thread, the motion of the plain march, its laws."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.assembly.system import assemble
from fem.runs.record import Requests, SilentSink
from fem.solve import step_system
from fem.solve.explicit import blocks
from fem.solve.explicit.driver import Explicit, bound_of
from fem.solve.loop import solve
from tests.decks import run_text
from tests.solve.test_linear_policies import step_run_of

SIDE = 17
"""Cells of a net along one side."""


def net(
    *, strain: str = "ENGINEERING", order: np.ndarray | None = None, extra: str = "", held: bool = True, load: str = "",
    period: float = 0.1, dt: float = 5e-4, print_every: int = 1000,
) -> str:  # fmt: skip
    """A square net of cables of 0.1, uneven in height, heavier and stiffer along x; ``order``: labels of the nodes."""
    rows, columns = np.divmod(np.arange((SIDE + 1) ** 2), SIDE + 1)
    labels = (np.arange(len(rows)) if order is None else order) + 1
    deep = 0.01 * np.sin(3.0 * rows + columns**2)
    places = np.column_stack([labels, 0.1 * columns, 0.1 * rows, deep])[labels.argsort()].tolist()
    nodes = "\n".join(f"{label:.0f}, {x!r}, {y!r}, {z!r}" for label, x, y, z in places)
    grid = labels.reshape(SIDE + 1, SIDE + 1)
    along, across = (
        "\n".join(f"{first + k}, {i}, {j}" for k, (i, j) in enumerate(zip(one.ravel(), other.ravel(), strict=True)))
        for first, one, other in ((1, grid[:, :-1], grid[:, 1:]), (10_001, grid[:-1], grid[1:]))
    )
    edge = labels[(rows % SIDE == 0) | (columns % SIDE == 0)]
    supports = "*BOUNDARY\n" + "\n".join(f"{label}, 1, 3" for label in edge) if held else ""
    gravity = load or "*DLOAD\nALL, GRAV, 9.81, 0, 0.6, -0.8"
    return f"""*NODE, NSET=NODES
{nodes}
*NSET, NSET=MIDDLE
{grid[SIDE // 2, SIDE // 2]}
*ELEMENT, TYPE=T3D2, ELSET=ALONG
{along}
*ELEMENT, TYPE=T3D2, ELSET=ACROSS
{across}
*ELSET, ELSET=ALL
ALONG, ACROSS
*MATERIAL, NAME=STEEL
*ELASTIC
1e3
*DENSITY
2.
*MATERIAL, NAME=ROPE
*ELASTIC
3e2
*NO COMPRESSION
*DENSITY
1.
*SOLID SECTION, ELSET=ALONG, MATERIAL=STEEL, STRAIN={strain}
1.
*SOLID SECTION, ELSET=ACROSS, MATERIAL=ROPE, STRAIN={strain}
1.2
{extra}
{supports}
*STEP, NLGEOM
*DYNAMIC, DIRECT, EXPLICIT
{dt!r}, {period!r}
{gravity}
*NODE PRINT, NSET=NODES, FREQUENCY={print_every}
U, V
*ENERGY PRINT, FREQUENCY={print_every}
*END STEP
"""


LENGTHS = "*REST LENGTH\nACROSS, 0.095"
STRESSED = "*INITIAL CONDITIONS, TYPE=STRESS\nALONG, 3."
CASES = {
    "plain": {},
    "GREEN": {"strain": "GREEN"},
    "rest lengths": {"extra": LENGTHS},
    "GREEN rest lengths": {"strain": "GREEN", "extra": LENGTHS},
    "stress": {"extra": STRESSED},
    "varying load": {
        "extra": "*AMPLITUDE, NAME=UP\n0., 0., 0.03, 1.",
        "load": "*DLOAD, AMPLITUDE=UP\nALL, GRAV, 9.81, 0, 0.6, -0.8",
    },
    "moving support": {
        "extra": "*AMPLITUDE, NAME=UP\n0., 0., 0.03, 1.",
        "load": "*DLOAD\nALL, GRAV, 9.81, 0, 0.6, -0.8\n*BOUNDARY, AMPLITUDE=UP\n1, 3, 3, 0.02",
    },
}


@pytest.fixture
def crowd(monkeypatch):
    """Nets of this size count as large; a function that sets the number of threads."""
    monkeypatch.setattr(step_system, "CROWD", 100)
    monkeypatch.setattr(blocks, "NODES", 30)
    monkeypatch.setattr(blocks, "SHORT", 1)
    return lambda count: monkeypatch.setattr(blocks, "threads", lambda: count)


class Last(SilentSink):
    """The last row."""

    hears_rows = True

    def rows(self, rows):
        self.last = rows


def end_of(text: str) -> tuple[np.ndarray, np.ndarray]:
    """u, v, a and reactions of all nodes at the end, and the energies, where only the last increment is asked for."""
    model, sink = fem.parse_deck(text), Last()
    solve(model, sink, Requests(fields=False))
    last = sink.last
    return last.motion[-1].copy(), np.array([last.kinetic[-1], last.strain[-1], last.potential[-1]])


@pytest.mark.parametrize("case", CASES)
def test_two_threads_give_the_bytes_of_one(crowd, case):
    text = net(**CASES[case])
    found = []
    for count in (1, 2, 3):
        crowd(count)
        found.append(end_of(text))
    for motion, energies in found[1:]:
        assert motion.tobytes() == found[0][0].tobytes()
        assert energies.tobytes() == found[0][1].tobytes()


@pytest.mark.parametrize("case", CASES)
def test_the_motion_is_that_of_the_plain_march(crowd, monkeypatch, case):
    """Some 200 increments whose sums have another order."""
    text = net(**CASES[case])
    motion, energies = end_of(text)
    monkeypatch.setattr(step_system, "CROWD", 1_000_000)
    plain, books = end_of(text)
    assert (np.abs(motion - plain).max(axis=(1, 2)) < 1e-10 * np.abs(plain).max(axis=(1, 2))).all()
    assert energies == pytest.approx(books, rel=1e-10)


def test_increments_that_are_printed_do_not_change_a_bit(crowd):
    """Of every increment, of some, of the last one only."""
    crowd(2)
    ends = [end_of(net(print_every=every))[0].tobytes() for every in (1, 7, 1000)]
    assert ends[0] == ends[1] == ends[2]


def test_momentum_and_angular_momentum_of_a_free_net(crowd):
    """Bars between two blocks pull both nodes equally: to round-off."""
    crowd(2)
    start = "*INITIAL CONDITIONS, TYPE=VELOCITY\nMIDDLE, 3, 5.\nMIDDLE, 1, 2."
    text = net(held=False, extra=start, load="*DLOAD\nALL, GRAV, 0., 0, 0, -1")
    model = fem.parse_deck(text)
    history = fem.run(model)
    mass, place = assemble(model).mass, model.mesh.coordinates
    v = history.v.reshape(len(history.time), -1, 3)
    momentum = np.einsum("tnc,n->tc", v, mass)
    assert np.abs(momentum - momentum[0]).max() < 1e-13 * 5.0 * mass.max()
    spin = np.cross(place + history.u.reshape(v.shape), v)
    total = np.einsum("tnc,n->tc", spin, mass)
    assert np.abs(total - total[0]).max() < 1e-11 * np.abs(spin).max() * mass.max()
    assert np.abs(history.energy_error).max() < 1e-2 * 0.5 * mass @ (v[0] ** 2).sum(axis=1)


def test_energy_errors_are_of_second_order(crowd):
    """Half the increment leaves a quarter of the largest error."""
    crowd(2)
    errors = [np.abs(run_text(net(dt=dt, strain="GREEN")).energy_error).max() for dt in (4e-4, 2e-4, 1e-4)]
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(4.0, rel=0.25)


def test_renumbered_nodes_move_alike(crowd):
    """Blocks of other nodes: the sums differ, nothing else."""
    crowd(2)
    order = np.random.default_rng(1).permutation((SIDE + 1) ** 2)
    plain, energies = end_of(net())
    mixed, books = end_of(net(order=order))
    assert np.abs(mixed[0, order] - plain[0]).max() < 1e-11 * np.abs(plain[0]).max()
    assert books == pytest.approx(energies, rel=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_the_bound_of_stability_is_that_of_all_bars_together(crowd, case):
    """Away from the reference position."""
    crowd(2)
    step_run = step_run_of(net(**CASES[case]))
    step_run.open()
    explicit, stage, motion = step_run.marcher, step_run.stage, step_run.progress.motion
    motion.u[:] = 0.01 * np.random.default_rng(2).standard_normal(len(motion.u)) * (stage.nodes.dof_kind != 0)
    thermal = np.zeros(len(stage.bars.nodes))
    square, _ = bound_of(stage, explicit.taut, explicit.moved, motion, thermal, 0.0, 1e-4)
    assert explicit.team.largest_square(motion.u) == pytest.approx(square, rel=1e-12)


@pytest.mark.parametrize(
    "extra",
    [
        "*ELEMENT, TYPE=SPRING1, ELSET=S\n30001, 30\n*SPRING, ELSET=S\n3\n5.",
        "*MPC\nLINK, 40, 42",
        "*EQUATION\n2\n40, 3, 1., 42, 3, -1.",
    ],
)
def test_what_is_no_plain_bar_takes_the_plain_march(crowd, monkeypatch, extra):
    """The motion is the same as before blocks, whatever acts beside bars."""
    made = []
    honest = blocks.blocks_of
    monkeypatch.setattr("fem.solve.explicit.driver.blocks_of", lambda stage: made.append(honest(stage)) or made[-1])
    end_of(net(extra=extra, period=0.002))
    assert made == [None]


def test_bars_with_nothing_in_common_take_the_plain_march(crowd, monkeypatch):
    """Each has another initial stress."""
    monkeypatch.setattr(blocks, "SHORT", 4)
    stresses = "*INITIAL CONDITIONS, TYPE=STRESS\n" + "\n".join(f"{k}, {1 + k / 1000!r}" for k in range(1, 300))
    texts = {text: net(extra=text, period=0.002) for text in ("", stresses)}
    found = {}
    for name, text in texts.items():
        seen = []
        monkeypatch.setattr(Explicit, "length", lambda self, count, *_, seen=seen: seen.append(self.team) or count)
        end_of(text)
        found[name] = seen[0]
    assert found[""] is not None
    assert found[stresses] is None
