"""What small numbers decide at the start of a step: just below and just above each."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest

import fem
from fem.runs.record import Requests, SilentSink, StepStart
from fem.solve.loop import solve
from tests.decks import chain, run_text

ROD = """*NODE
1,0,0,0
2,{x!r},0,{z!r}
*ELEMENT, TYPE=T3D2, ELSET=R
1,1,2
*ELEMENT, TYPE=MASS, ELSET=M
2,2
*MASS, ELSET=M
1.
*MATERIAL, NAME=I
*INEXTENSIBLE
*SOLID SECTION, ELSET=R, MATERIAL=I
1.
*BOUNDARY
1,1,3
2,2
*INITIAL CONDITIONS, TYPE={kind}
2,{dof},{value!r}
{more}*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.02
*END STEP
"""


@pytest.mark.parametrize(("strain", "starts"), [(0.9e-9, True), (-0.9e-9, True), (1.1e-9, False), (-1.1e-9, False)])
def test_a_rod_starts_with_its_length_to_a_billionth(strain, starts):
    text = ROD.format(x=0.0, z=-1.0, kind="DISPLACEMENT", dof=3, value=-strain, more="")
    if starts:
        assert np.abs(run_text(text).u).max() < 2e-9
    else:
        with pytest.raises(fem.ModelError, match="has the constant length"):
            run_text(text)


@pytest.mark.parametrize(("rate", "starts"), [(0.9e-7, True), (1.1e-7, False)])
def test_a_rod_starts_with_velocities_that_keep_its_length_to_a_ten_millionth_of_the_largest(rate, starts):
    across = "2,1,1.\n"
    text = ROD.format(x=0.0, z=-1.0, kind="VELOCITY", dof=3, value=-rate, more=across)
    if starts:
        assert abs(run_text(text).v[0, 5]) < 1e-12
    else:
        with pytest.raises(fem.ModelError, match="change its length at a rate"):
            run_text(text)


def test_a_blank_explicit_increment_is_nine_tenths_of_the_critical_one():
    """A pinned bar of stiffness k with m/2 at its end: omega^2 = 2 k/m, the critical increment 2/omega."""
    critical = 2.0 / math.sqrt(2.0 * (1e4 / 0.1) / 0.1)
    text = chain(1, young=1e4).replace("*DYNAMIC, DIRECT\n0.01, 0.5", f"*DYNAMIC, EXPLICIT\n, {90.0 * critical!r}")
    assert len(run_text(text).time) == 101


@pytest.mark.parametrize(("side", "solver"), [(17, "band"), (20, "direct")])
def test_statics_of_nets_takes_a_band_up_to_rows_times_its_square_width_of_three_million(side, solver):
    """A net of n x n cells has some 3 n^2 rows and a half width of 3 n: 27 n^4 is 2.3e6 and 4.3e6."""
    assert any(text.startswith(solver) for text in solvers_of(net(side)))


def net(side: int) -> str:
    """A prestressed square net on its edges, under its weight."""
    place = range(side + 1)
    label = {(i, j): 1 + i + (side + 1) * j for j in place for i in place}
    nodes = "".join(f"{label[i, j]},{i},{j},0\n" for i, j in label)
    ends = [(a, b) for i, j in label for a, b in (((i, j), (i + 1, j)), ((i, j), (i, j + 1))) if b in label]
    bars = "".join(f"{n},{label[a]},{label[b]}\n" for n, (a, b) in enumerate(ends, 1))
    edge = "".join(f"{label[i, j]},1,3\n" for i, j in label if {i, j} & {0, side})
    return (
        f"*NODE\n{nodes}*ELEMENT, TYPE=T3D2, ELSET=N\n{bars}*MATERIAL, NAME=M\n*ELASTIC\n1e4\n*DENSITY\n1.\n"
        f"*SOLID SECTION, ELSET=N, MATERIAL=M\n1.\n*INITIAL CONDITIONS, TYPE=STRESS\nN, 100.\n*BOUNDARY\n{edge}"
        "*STEP, NLGEOM\n*STATIC, DIRECT\n1., 1.\n*DLOAD\nN, GRAV, 1., 0, 0, -1\n*END STEP\n"
    )


def solvers_of(text: str) -> list[str]:
    """The linear solvers of the steps of a deck."""

    class Starts(SilentSink):
        texts: ClassVar[list[str]] = []

        def begin(self, start: StepStart) -> None:
            Starts.texts = [start.solver]

    solve(fem.parse_deck(text), Starts(), Requests(fields=False))
    return Starts.texts


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
def test_ropes_beside_a_rod_do_not_take_up_velocities_that_would_stretch_it(impact):
    rope = "*NODE\n3,3,0,0\n4,3,0,-1\n*ELEMENT, TYPE=T3D2, ELSET=L\n3,3,4\n*ELEMENT, TYPE=MASS, ELSET=M\n4,4\n"
    rope += "*MATERIAL, NAME=J\n*INEXTENSIBLE\n*NO COMPRESSION\n*SOLID SECTION, ELSET=L, MATERIAL=J\n1.\n"
    text = ROD.format(x=0.0, z=-1.0, kind="VELOCITY", dof=3, value=-0.5, more=rope + "*BOUNDARY\n3,1,3\n")
    text = text.replace("0.01, 0.02\n", f"0.01, 0.02\n*CONTROLS, IMPACT={impact}\n")
    with pytest.raises(fem.ModelError, match="element 1 is inextensible, but the initial velocities"):
        run_text(text)


SLOWED = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 2.5, 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e4
*DENSITY
3.
*DAMPING, ALPHA=0.5
*SOLID SECTION, ELSET=BARS, MATERIAL=M, MASS={mass}
1.
{tie}*BOUNDARY
1, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 2, 0.3
3, 2, {second}
3, 3, -0.2
*STEP, NLGEOM
*DYNAMIC, DIRECT
1e-3, 1e-3
*END STEP
"""


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
@pytest.mark.parametrize(("tie", "second"), [("", "0.7"), ("*EQUATION\n2\n3, 2, 1., 2, 2, -2.\n", "0.6")])
def test_damping_by_mass_slows_all_from_the_start(mass, tie, second):
    """Across bars at rest, C = alpha M: a(0) = -alpha v(0) whatever M is, also where 3 moves twice as far as 2."""
    history = fem.run(fem.parse_deck(SLOWED.format(mass=mass, tie=tie, second=second)))
    assert history.a[0] == pytest.approx(-0.5 * history.v[0], abs=1e-12) and np.abs(history.v[0]).max() == float(second)
