"""Central differences: order, energy, reversal, momentum, the critical increment, the same motion as Newmark."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import fem
from fem.errors import EnergyDrift, ModelError, NoConvergence
from tests.decks import chain, run_text
from tests.solve.test_order_and_energy import PULLED

SHAKEN = PULLED.replace("*DYNAMIC, DIRECT", "*DYNAMIC, {scheme}")
"""Springs, dashpots, both dampings, heat, moving support, loads and gravity that vary."""
NET = """*NODE, NSET=ALL
1,0,0,0
2,1,0,0
3,2,0,0
4,0,1,0
5,1,1,0
6,2,1,0
7,0,2,0
8,1,2,0
9,2,2,0
*ELEMENT, TYPE=T3D2, ELSET=LINES
1,1,2
2,2,3
3,4,5
4,5,6
5,7,8
6,8,9
7,1,4
8,4,7
9,2,5
10,5,8
11,3,6
12,6,9
*MATERIAL, NAME=M
*ELASTIC
1e3
{material}
*DENSITY
1.
*SOLID SECTION, ELSET=LINES, MATERIAL=M, STRAIN={strain}
1.
*BOUNDARY
1, 1, 3
3, 1, 3
7, 1, 3
9, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
5, 3, 4.
5, 1, 1.
*STEP, NLGEOM={nlgeom}
*DYNAMIC, {scheme}
{dt!r}, 0.5
*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF
*DLOAD
LINES, GRAV, 9.81, 0, 0, -1
*END STEP
"""
TIED = """*NODE
1,0,0,0
2,1,0,0
3,1,0.5,0
4,2,0.5,0
*ELEMENT, TYPE=T3D2, ELSET=LINE
1,1,2
2,3,4
*MATERIAL, NAME=M
*ELASTIC
500.
*DENSITY
2.
*DAMPING, ALPHA=0.5
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*EQUATION
2
3, 1, 1., 2, 1, -2.
*EQUATION
2
3, 3, 1., 2, 3, -1.
*EQUATION
2
3, 2, 1., 2, 2, -1.
*BOUNDARY
1, 1, 3
4, 1, 3
*STEP, NLGEOM
*DYNAMIC, {scheme}
{dt!r}, 0.5
*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF
*DLOAD
LINE, GRAV, 9.81, 0, 0, -1
*END STEP
"""


def explicit_chain(bars: int, dt: float, period: float, **options: object) -> str:
    return chain(bars, dt=float(dt), period=float(period), dynamic=", EXPLICIT", **options)


def limit_of(bars: int, young: float) -> float:
    """Exact critical increment of a straight chain of lumped bars of 0.1, one end held.

    omega_max = 2 sqrt(k/m) sin((2 n - 1) pi/(4 n)), k = EA/l, m = rho A l (a chain held at one end and free with half
    a mass at the other is half a chain of 2 n bars held at both).
    """
    return 0.1 / math.sqrt(young) / math.sin((2 * bars - 1) * math.pi / (4 * bars))


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING", "LOG"])
def test_order_two_with_everything_acting(strain):
    """Against dt/4 of the finest; energies and displacements alike, though dampers act on an extrapolated velocity."""
    counts = (400, 800, 3200)
    runs = {n: run_text(SHAKEN.format(strain=strain, mass="LUMPED", dt=1.0 / n, scheme="EXPLICIT")) for n in counts}
    error = [np.abs(runs[n].u[-1] - runs[3200].u[-1]).max() for n in counts[:2]]
    # against 8 and 4 times finer: (1 - 1/64) / (1/4 - 1/64) = 4.2, that is 2.07
    assert np.log2(error[0] / error[1]) == pytest.approx(2.0, abs=0.1)
    drift = [np.abs(runs[n].energy_error).max() for n in counts[:2]]
    assert np.log2(drift[0] / drift[1]) == pytest.approx(2.0, abs=0.15)
    assert runs[3200].energy[-1, 4] > 0.1


def test_order_two_of_an_undamped_chain():
    def end(n: int):
        return run_text(explicit_chain(4, 0.2 / n, 0.2, young=1e3)).u[-1]

    exact = end(12800)
    error = [np.abs(end(n) - exact).max() for n in (200, 400, 800)]
    for coarse, fine in itertools.pairwise(error):
        assert 1.95 <= np.log2(coarse / fine) <= 2.05


MODELS = {
    "everything": SHAKEN.replace("{strain}", "ENGINEERING").replace("{mass}", "LUMPED"),
    "net": NET.replace("{material}", "").replace("{strain}", "GREEN").replace("{nlgeom}", "YES"),
    "cable net": NET.replace("{material}", "*NO COMPRESSION").replace("{strain}", "LOG").replace("{nlgeom}", "YES"),
    "linear net": NET.replace("{material}", "").replace("{strain}", "ENGINEERING").replace("{nlgeom}", "NO"),
    "equations": TIED,
}


@pytest.mark.parametrize("name", MODELS)
def test_same_motion_as_newmark(name):
    """Both are of order 2: the difference falls as dt^2, fourfold when dt is halved."""

    def difference(dt: float) -> float:
        ends = [
            run_text(MODELS[name].replace("{dt!r}", repr(dt)).replace("{scheme}", scheme))
            for scheme in ("EXPLICIT", "DIRECT")
        ]
        assert ends[0].energy[-1, :3] == pytest.approx(ends[1].energy[-1, :3], rel=0.02, abs=0.02)
        return float(np.abs(ends[0].u[-1] - ends[1].u[-1]).max())

    coarse, fine = difference(1e-3), difference(5e-4)
    assert coarse < 2e-3
    assert coarse / fine == pytest.approx(4.0, rel=0.25)


def test_energy_stays_in_a_band():
    """Not kept exactly, but without drift: the second half of 20,000 increments is no worse than the first."""
    history = run_text(explicit_chain(1, 5e-4, 10.0, young=1e3))
    error = np.abs(history.energy_error)
    half = len(error) // 2
    assert error[half:].max() < 1.5 * error[:half].max()
    assert error.max() < 2e-3 * np.abs(history.energy).max()


def test_motion_turns_back():
    """Central differences are symmetric in time: with reversed velocity the chain comes home, to round-off."""
    there = run_text(explicit_chain(3, 1e-3, 0.2, young=1e3))
    place, velocity = there.u[-1].reshape(-1, 3), there.v[-1].reshape(-1, 3)
    place, velocity = place.tolist(), velocity.tolist()
    lines = [f"{n + 1}, {c + 1}, {place[n][c]!r}" for n in range(1, 4) for c in range(3)]
    start = "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n" + "\n".join(lines)
    lines = [f"{n + 1}, {c + 1}, {-velocity[n][c]!r}" for n in range(1, 4) for c in range(3)]
    start += "\n*INITIAL CONDITIONS, TYPE=VELOCITY\n" + "\n".join(lines)
    text = explicit_chain(3, 1e-3, 0.2, young=1e3).replace("*STEP", start + "\n*STEP")
    back = run_text(text)
    assert np.abs(there.u[-1]).max() > 0.1
    assert np.abs(back.u[-1]).max() < 1e-11


def test_free_chain_keeps_its_momenta():
    """Thrown without gravity: momentum and moment of momentum to round-off, although bars stretch."""
    text = explicit_chain(4, 1e-3, 1.0, young=200.0).replace("*BOUNDARY\n1, 1, 3\n", "")
    text = text.replace("LINE, GRAV, 9.81,", "LINE, GRAV, 0.,")
    start = "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 1, 1.\n3, 2, 2.\n5, 3, -1.5\n"
    history = run_text(text.replace("*STEP", start + "*STEP"))
    mass = np.array([0.05, 0.1, 0.1, 0.1, 0.05])[:, None]
    v = history.v.reshape(len(history), -1, 3)
    x = history.u.reshape(len(history), -1, 3) + history.mesh.coordinates
    for momentum in ((mass * v).sum(axis=1), (mass * np.cross(x, v)).sum(axis=1)):
        assert np.abs(momentum - momentum[0]).max() < 1e-13
    assert np.abs(history.elements[:, :, 0]).max() > 0.01


@pytest.mark.parametrize("bars", [1, 2, 10, 60])
def test_stability_limit_is_sharp(bars):
    """0.99 of the exact limit runs and stays bounded, 1.01 is refused with the limit, bar and material named."""
    exact = limit_of(bars, 1e4)
    kick = f"*INITIAL CONDITIONS, TYPE=VELOCITY\n{bars + 1}, 1, 1e-4\n"

    def text(share: float) -> str:
        deck = explicit_chain(bars, share * exact, 2000 * share * exact, young=1e4).replace("9.81", "0.")
        return deck.replace("*STEP", kick + "*STEP").replace("NLGEOM=YES", "NLGEOM=NO")

    history = run_text(text(0.99))
    # kinetic plus potential energy may swing by 1/(1 - 0.99^2) = 50 at most
    assert np.abs(history.energy[:, :2].sum(axis=1)).max() < 60 * history.energy[0, 0]
    with pytest.raises(ModelError, match=r"exceeds the critical one.*element \d+ \(material M.*of LINE") as failure:
        run_text(text(1.01))
    named = float(str(failure.value).split("critical one, ")[1].split(",")[0])
    assert named == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("damping", [0.02, 0.2, 1.0])
def test_damping_shortens_the_critical_increment(damping):
    """One bar, xi of its mode: 2/omega (sqrt(1 + 4 xi^2) - 2 xi); just below it runs, just above it is refused."""
    omega = math.sqrt(1e4 / 0.1 / 0.05)
    beta = 2.0 * damping / omega
    exact = 2.0 / omega * (math.sqrt(1.0 + 4.0 * damping**2) - 2.0 * damping)
    kick = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 1e-3\n*STEP"

    def text(share: float) -> str:
        return explicit_chain(
            1, share * exact, 1000 * share * exact, young=1e4, material=f"*DAMPING, BETA={beta!r}"
        ).replace("9.81", "0.").replace("*STEP", kick)  # fmt: skip

    history = run_text(text(0.995))
    assert np.abs(history.u[-100:]).max() < 1e-2 * np.abs(history.u).max()
    with pytest.raises(ModelError, match="critical"):
        run_text(text(1.005))


def test_blank_increment_is_nine_tenths_of_the_critical_one():
    text = explicit_chain(10, 1.0, 0.05, young=1e4).replace("1.0, 0.05", ", 0.05")
    history = run_text(text)
    assert history.dt[1] == pytest.approx(0.9 * limit_of(10, 1e4), rel=1e-3)
    assert history.time[-1] == 0.05


def test_cable_that_becomes_taut_is_counted_from_the_start():
    """A slack cable has no stiffness, but the limit is that of the taut one."""
    slack = "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n2, 1, -0.01\n*STEP"
    text = explicit_chain(1, 1.0, 0.05, young=1e4, material="*NO COMPRESSION").replace("*STEP", slack)
    history = run_text(text.replace("1.0, 0.05", ", 0.05"))
    # GREEN: axial stiffness EA/L0 (s^2 + E) with s = 0.9, E = -0.095
    assert history.dt[1] == pytest.approx(0.9 * 2.0 / np.sqrt(1e5 * (0.81 - 0.095) / 0.05), rel=2e-3)


def test_stiffening_bar_stops_the_run_by_name():
    """A GREEN bar is 1 + 3 E times as stiff: slowly pulled, it needs smaller increments than at the start."""
    text = explicit_chain(1, 0.99 * 2.0 / math.sqrt(1e4 / 0.05), 14.0, young=1e3)
    text = text.replace("*STEP", "*AMPLITUDE, NAME=UP\n0, 0, 14, 1\n*STEP")
    text = text.replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1", "*DLOAD, AMPLITUDE=UP\nLINE, GRAV, 400., 1, 0, 0")
    with pytest.raises(NoConvergence, match=r"become stiffer.*element 1") as failure:
        run_text(text)
    assert not isinstance(failure.value, EnergyDrift)
    # 1 + 3 E = 1/0.99^2 at E = 0.0067, that is 6.7 N of 20 N; looked at every 200 increments, 0.9 s
    assert 4.6 < failure.value.history.time[-1] < 5.7


def test_implicit_and_explicit_steps_follow_each_other():
    """Newmark, explicit, Newmark, static: the state carries over, and the books close."""
    text = chain(3, young=1e3, dt=2e-4, period=0.1)
    step = text[text.index("*STEP") :]
    explicit = step.replace("*DYNAMIC, DIRECT", "*DYNAMIC, EXPLICIT")
    mixed = run_text(text + explicit + step)
    whole = run_text(text.replace("0.0002, 0.1", "0.0002, 0.3"))
    assert np.abs(mixed.u[-1] - whole.u[-1]).max() < 1e-5
    assert mixed.energy_error == pytest.approx(0.0, abs=1e-4 * np.abs(whole.energy).max())
    explicit_rows = mixed.of_step(2)
    assert not mixed.iterations[explicit_rows].any()
    assert not mixed.residual_norm[explicit_rows].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("MASS=LUMPED", "MASS=CONSISTENT"), "element 1 couples.*MASS=LUMPED"),
        (("MASS=LUMPED", "MASS=ONE POINT"), "element 1 couples.*MASS=LUMPED"),
        (("*DENSITY\n1.", ""), "node 2 dof 1 is free and has no mass"),
        (("*BOUNDARY", "*EQUATION\n3\n4, 1, 1., 3, 1, -1., 2, 1, -1.\n*BOUNDARY"), "couples their masses"),
    ],
)
def test_what_has_no_diagonal_mass_is_refused(change, message):
    text = explicit_chain(3, 1e-4, 0.01).replace("GRAV, 9.81", "GRAV, 0.")
    with pytest.raises(ModelError, match=message):
        run_text(text.replace(*change))


def test_rows_nobody_asked_for_are_left_out_of_files(tmp_path):
    """The tables are those of a run with all rows; energies do not depend on what was left out."""
    every = explicit_chain(4, 1e-3, 0.1, young=1e3).replace("*END STEP", "*NODE PRINT, FREQUENCY=25\nU\n*END STEP")
    some = every.replace("*NODE PRINT", "*ENERGY PRINT, FREQUENCY=7\n*NODE PRINT")
    tables = {}
    for name, text in (("every", every), ("some", some)):
        (tmp_path / f"{name}.inp").write_text(text)
        fem.runner.run_to_files(tmp_path / f"{name}.inp", tmp_path / name, quiet=True, vtk=False)
        tables[name] = {
            kind: (tmp_path / name / f"{kind}.csv").read_text().splitlines() for kind in ("increments", "nodes")
        }
    assert tables["every"]["nodes"] == tables["some"]["nodes"]
    wanted = [line.split(",") for line in tables["every"]["increments"][1:] if int(line.split(",")[1]) % 7 == 0]
    wanted.append(tables["every"]["increments"][-1].split(","))
    found = [line.split(",") for line in tables["some"]["increments"][1:]]
    assert [row[:4] for row in found] == [row[:4] for row in wanted]
    assert np.array(found, float) == pytest.approx(np.array(wanted, float), abs=1e-12)
