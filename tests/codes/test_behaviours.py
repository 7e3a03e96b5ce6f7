"""What other codes do, as docs/other_codes.md says and our exporters count on; run by the real codes where installed.

A new release that behaves otherwise fails here: change the page, and what relies on it. Expected numbers are analytic,
or those of the law that the row of the page states, unless a test says that they are seen.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import pytest
from scipy.optimize import brentq

import fem
from fem.codes.moordyn_account import FRICTION_DAMPING, GRAVITY
from fem.deck import parse_deck
from tests.codes.installed import PYTHON, skip_without

HERE = Path(__file__).parent


def printed_by(code: str, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The JSON of a script, run by the Python that has the code."""
    skip_without(code)
    folder = tmp_path_factory.mktemp(code)
    out = folder / "found.json"
    run = [PYTHON, str(HERE / f"{code}_behaviours.py"), str(out)]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=120)
    assert out.exists(), done.stdout + done.stderr
    return json.loads(out.read_text())


@pytest.fixture(scope="module")
def opensees(tmp_path_factory):
    return printed_by("opensees", tmp_path_factory)


@pytest.fixture(scope="module")
def moordyn(tmp_path_factory):
    return printed_by("moordyn", tmp_path_factory)


def test_opensees_begins_without_forces(opensees):
    """A spring of 100 stretched by 0.1: force 10, acceleration -10."""
    assert opensees["start"] == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["let go", "pushed"])
def test_opensees_is_of_first_order_without_its_acceleration(opensees, kind):
    """Halving dt divides the error by 2; by 4 where the acceleration at the start is set."""
    coarse, fine = opensees[kind]
    assert coarse / fine == pytest.approx(2.0, rel=0.05)
    coarse, fine = opensees[f"{kind}, accelerated"]
    assert coarse / fine == pytest.approx(4.0, rel=0.05)


def test_opensees_moves_supports_without_velocity(opensees):
    """At 0.5 from 0 to 1; behind a dashpot of 5 a mass of 1 follows: u = (1 - (1 - exp(-5))/5)/2."""
    assert opensees["moved support"] == [pytest.approx(0.5), 0.0]
    still, following = opensees["behind dashpot"]
    assert still == pytest.approx(0.0, abs=1e-9)
    assert following == pytest.approx(0.5 * (1.0 - 0.2 * (1.0 - math.exp(-5.0))), rel=1e-4)


def test_opensees_path_is_nothing_after_its_end(opensees):
    """-useLast helps where the points are equally spaced by -dt."""
    assert (opensees["path"], opensees["path, useLast"], opensees["path, dt, useLast"]) == (0.0, 0.0, 1.0)


def test_opensees_trusses_are_damped_by_rayleigh_where_asked(opensees):
    """Damping ratio a beta omega/2 = 0.05: after nine periods less than exp(-2.8)."""
    plain, asked, undamped = opensees["rayleigh"]
    assert plain == undamped > 0.99 and asked < math.exp(-2.8)


def test_opensees_hht_counts_from_the_other_end(opensees):
    """alpha 1 is the trapezoidal rule, undamped; 0.7 takes energy."""
    undamped, damped = opensees["hht"]
    assert undamped == opensees["rayleigh"][2] > damped


@pytest.mark.parametrize(("place", "forward", "more"), [(0, 0.7, 0.3), (1, 1.0 / 1.2, 1.5 - 1.0 / 1.2)])
def test_opensees_takes_the_force_of_a_state_between(opensees, place, forward, more):
    """HHT 0.7, GeneralizedAlpha 1.5 1/1.2: one step of f(y) = 100 (1 - 1/l) y, l^2 = 1 + y^2. GeneralizedAlpha should
    take 1.5 of the new acceleration and -0.5 of the old; it takes the new one (GeneralizedAlpha::update)."""
    h, y0, beta = 0.2, 0.5, (1.0 + more) ** 2 / 4.0

    def force(y):
        return 100.0 * (1.0 - 1.0 / math.sqrt(1.0 + y * y)) * y

    def after(new_part, mean):
        def residual(y):
            new, old = (y - y0) / (beta * h * h) + (0.5 / beta - 1.0) * force(y0), -force(y0)
            return new_part * new + (1.0 - new_part) * old + mean(y)

        return brentq(residual, -1.0, 1.0, xtol=1e-14)

    def of_state(y):
        return force(forward * y + (1.0 - forward) * y0)

    found = opensees["one step"][place]
    assert found == pytest.approx(after(1.0, of_state), abs=1e-9)
    assert abs(found - after(1.0, lambda y: forward * force(y) + (1.0 - forward) * force(y0))) > 1e-4
    assert place == 0 or abs(found - after(1.5, of_state)) > 5e-3


def test_opensees_trusses(opensees):
    """Mass 6, stiffness 100, one end held: 100/3 with half of the mass, 100/2 with a third of it. Drawn aside by 0.5,
    Truss has no force; corotTruss has that of its elongation, sqrt(1.25) - 1, the tension positive."""
    assert opensees["pulled"] == [0, pytest.approx(10.0), pytest.approx(0.1)]
    assert opensees["lumped, consistent"] == pytest.approx([100.0 / 3.0, 100.0 / 2.0])
    straight, turned = opensees["across"]
    assert straight == 0.0 and turned == pytest.approx(100.0 * (math.sqrt(1.25) - 1.0), rel=0.01)


def test_opensees_materials(opensees):
    """A table goes on with its last slope, an initial strain adds to the strain, eta acts without a modulus, too."""
    found = [opensees[name] for name in ("beyond table", "initial strain", "slack damping")]
    assert found == pytest.approx([20.0, 10.0, 5.0 * -2.0])


def test_opensees_says_by_a_number_that_it_failed(opensees):
    assert opensees["unsolvable"] < 0


def test_moordyn_gravity(moordyn):
    """1000 kg on a spring of 1e6 N."""
    without, with_ = moordyn["gravity"]
    assert without == pytest.approx(1e-3 * GRAVITY, rel=1e-5) and with_ == pytest.approx(9.81e-3, rel=1e-5)


def test_moordyn_rests_after_all_steps_only(moordyn):
    """A mass drawn above its place of rest, -20.0981: 0 TmaxIC leaves it there, 1e-9 threshIC ends on its fall."""
    drawn, falling, resting = moordyn["drawn"]
    assert drawn == -19.0 and -19.9 < falling < -19.1
    assert resting == pytest.approx(-20.0 - 10.0 * 9.81e-3, abs=1e-4)


CHAIN = """*NODE, NSET=ENDS
1, 0., 0., 0.
11, 90., 0., 0.
*NGEN, LINE=CATENARY
1, 11, 1, 100.
*ELEMENT, TYPE=T3D2, ELSET=C
1, 1, 2
*ELGEN, ELSET=C
1, 10
*MATERIAL, NAME=M
*ELASTIC
5.E7
*DENSITY
3.925
*SOLID SECTION, ELSET=C, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
ENDS, 1, 3
*STEP, NLGEOM
*STATIC
*DLOAD
C, GRAV, 9.81, 0., 0., -1.
*NODE PRINT
COORD
*END STEP
"""


def test_moordyn_lines_begin_as_continuous_catenaries(moordyn):
    """Ours is at rest; 0 TmaxIC is that of a continuous line, 60 TmaxIC with 1e-4 threshIC 6 mm off."""
    history = fem.run(parse_deck(CHAIN))
    sag = -(history.model.mesh.coordinates[history.model.mesh.node_labels == 6, 2][0] + history.of_node(6)[-1, 2])
    continuous, coarse, fine = (abs(each - sag) for each in moordyn["chain"])
    assert continuous > 0.05 and 1e-3 < coarse < 2e-2 and fine < 1e-4


def test_moordyn_friction_is_a_damper(moordyn):
    """mu FricDamp v at each of 20 m with 10 segments, but at the held node; up to mu W = 0.5 of the weight in water."""
    slow, fast, stiff = moordyn["friction"]
    assert slow == pytest.approx(10 * 0.5 * FRICTION_DAMPING * 0.01, rel=0.05) and fast == pytest.approx(
        10.0 * slow, rel=0.01
    )
    weight = (100.0 - 1025.0 * math.pi / 400.0) * 9.81 * 20.0
    assert 0.93 < stiff / (0.5 * weight) < 0.97


def test_moordyn_bottom_is_by_the_diameter(moordyn):
    """Depth = weight/(kBot d) of a length, the density of the water 1025 by default."""
    depth = (100.0 - 1025.0 * math.pi / 400.0) * 9.81 / (1e5 * 0.1)
    assert moordyn["lying"] == pytest.approx([depth, depth / 2.0], rel=1e-3)


def test_moordyn_axial_drag_is_by_the_surface(moordyn):
    """rho/2 CdAx pi d v^2 over 10 m, but for half a segment at the point."""
    assert moordyn["along"] == pytest.approx(0.5 * 1025.0 * 0.2 * math.pi * 0.1 * 2.0**2 * 9.5, rel=1e-3)


def test_moordyn_damps_slack_lines(moordyn):
    """BA times the rate of strain, 1e3 2/10, with no elastic force."""
    assert moordyn["slack rate"][0] == pytest.approx(200.0, rel=1e-6)


def test_moordyn_dashpot_beside_the_fast_spring(moordyn):
    """EA_s|EA_d with BA 0|BA_d: EA_1 = 1.5e6 at once, then 1e6, time 2e5/(3e6 + 1.5e6), ramp 0.02."""
    tau = 2e5 / 4.5e6
    ramp = tau / 0.02 * (1.0 - math.exp(-0.02 / tau)) * math.exp(-0.02 / tau)
    assert moordyn["standard solid"] == pytest.approx([1e4 + 5e3 * ramp, 1e4], rel=1e-3)


def test_moordyn_fast_spring_needs_its_dashpot(moordyn):
    """EA_s|EA_d with BA 0|0."""
    assert all(map(math.isnan, moordyn["fast spring alone"]))


def test_moordyn_lines_do_not_push_and_bottoms_push_up(moordyn):
    """A line that lies on a slope of 20 degrees has no force, where at right angles it would be W sin 20."""
    weight = (100.0 - 1025.0 * math.pi / 400.0) * 9.81 * 20.0
    assert moordyn["pushed"] == 0.0 and moordyn["slope"] < 1e-3 * weight * math.sin(math.radians(20.0))


def test_moordyn_fairten_is_the_force_on_the_point(moordyn):
    """Of its output file; GetLineFairTen is the tension of the segment beside it."""
    of_file, tension, force = moordyn["fairlead"]
    assert of_file == pytest.approx(force, rel=1e-6) and tension < 0.95 * force


def test_moordyn_rods_without_segments_have_no_length(moordyn):
    """The line at end B begins at end A; with one segment 2 m beside it."""
    assert moordyn["rod"] == [0.0, 2.0]


BLOCK = """*NODE, NSET=N
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=SPRINGA, ELSET=S
1, 1, 2
*SPRING, ELSET=S

{stiffness}
{more}*ELEMENT, TYPE=MASS, ELSET=M
9, 2
*MASS, ELSET=M
1.
{model}*BOUNDARY
1, {held}, 3
2, 2, 3
*STEP, NLGEOM, INC=100000
{step}
{loads}*NODE PRINT, NSET=N
U, V, RF
*END STEP
"""
DASHPOT = "*ELEMENT, TYPE=DASHPOTA, ELSET=D\n5, 1, 2\n*DASHPOT, ELSET=D\n\n5.\n"
PUSHED = "*CLOAD, AMPLITUDE=ON\n2, 1, 10.\n"
ON = "*AMPLITUDE, NAME=ON\n0., 1., 10., 1.\n"
LET_GO = "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n2, 1, 0.1\n"
FAST = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 1.\n"

PENDULUM = """*NODE, NSET=N
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=B
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1.E5, 0.
*DENSITY
2.
*SOLID SECTION, ELSET=B, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
2, 2
*STEP, NLGEOM, INC=10000
*DYNAMIC, DIRECT, ALPHA=0.
0.01, 2.
*DLOAD
B, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=N, FREQUENCY=10
U
*END STEP
"""


@pytest.fixture
def ccx(tmp_path):
    """Runs a mass of 1 on a spring of 100: exit code, and (quantity, node) -> rows of time and its part along x."""
    skip_without("calculix")
    program = shutil.which("ccx")

    def run(**given: object):
        words = {
            "stiffness": "100.",
            "more": "",
            "model": "",
            "held": 1,
            "loads": "",
            "step": "*STATIC\n1., 1.",
        } | given
        (tmp_path / "m.inp").write_text(BLOCK.format(**words))
        (tmp_path / "m.dat").unlink(missing_ok=True)
        done = subprocess.run([program, "m"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        rows, key, time = {}, "", 0.0
        for line in (tmp_path / "m.dat").read_text().splitlines() if (tmp_path / "m.dat").exists() else ():
            words_ = line.split()
            if " for set " in line:
                key, time = words_[0], float(words_[-1])
            elif len(words_) == 4:
                rows.setdefault((key, int(words_[0])), []).append((time, float(words_[1])))
        return done.returncode, rows

    return run


def direct(dt: float, time: float = 1.0) -> str:
    return f"*DYNAMIC, DIRECT, ALPHA=0.\n{dt}, {time}"


def test_calculix_takes_constants_without_a_point_for_dofs(ccx):
    assert ccx(stiffness="1e-05")[0] == 201 and ccx(stiffness="1.e-05")[0] == 0


def test_calculix_cuts_numbers_at_20_characters(ccx):
    """100 in 22 characters is 1."""
    _, rows = ccx(stiffness="1.000000000000000000e2", loads="*CLOAD\n2, 1, 1.\n")
    assert rows["displacements", 2][-1][1] == pytest.approx(1.0)


def test_calculix_exit_code_is_0_for_a_missing_file_and_a_mechanism(ccx, tmp_path):
    assert subprocess.run(["ccx", "nothing"], cwd=tmp_path, capture_output=True).returncode == 0
    code, rows = ccx(stiffness="1.e-9", loads="*CLOAD\n2, 1, 1.\n")
    assert code == 0 and rows["displacements", 2][-1][1] > 1e8


@pytest.mark.parametrize(
    ("given", "exact", "ratio"),
    [
        ({"model": LET_GO}, lambda t: 0.1 * math.cos(10.0 * t), 4.0),
        ({"model": FAST}, lambda t: 0.1 * math.sin(10.0 * t), 4.0),
        ({"model": ON, "loads": PUSHED}, lambda t: 0.1 * (1.0 - math.cos(10.0 * t)), 4.0),
        (
            {"model": FAST, "more": DASHPOT},
            lambda t: math.exp(-2.5 * t) * math.sin(math.sqrt(93.75) * t) / math.sqrt(93.75),
            2.0,
        ),
    ],
)
def test_calculix_starts_right_but_for_dashpots(ccx, given, exact, ratio):
    """Order by halving dt: second; first where a dashpot has a force at the start."""
    errors = []
    for dt in (0.01, 0.005):
        _, rows = ccx(step=direct(dt), **given)
        errors.append(max(abs(u - exact(t)) for t, u in rows["displacements", 2]))
    assert errors[0] / errors[1] == pytest.approx(ratio, rel=0.05)


def test_calculix_dashpots_do_not_feel_moving_supports(ccx):
    """A mass behind a dashpot whose other end moves at 0.5 stays; exact 0.4007. V of the support is printed as 0."""
    moving = "*BOUNDARY, AMPLITUDE=A\n1, 1, 1, 1.\n"
    model = "*AMPLITUDE, NAME=A\n0., 0., 10., 5.\n"
    _, rows = ccx(stiffness="1.e-9", more=DASHPOT, model=model, held=2, step=direct(0.01), loads=moving)
    assert rows["displacements", 1][-1][1] == pytest.approx(0.5) and abs(rows["velocities", 1][-1][1]) < 1e-9
    assert abs(rows["displacements", 2][-1][1]) < 1e-6


def test_calculix_reactions_lack_the_inertia_of_masses_at_supports(ccx):
    """Acceleration 1 of a mass of 3 at a support, beside a spring: RF is that of the spring."""
    points = "".join(f"{0.01 * k:.2f}, {0.5 * (0.01 * k) ** 2:.8f}\n" for k in range(101))
    mass = "*ELEMENT, TYPE=MASS, ELSET=P\n7, 1\n*MASS, ELSET=P\n3.\n"
    moving = "*BOUNDARY, AMPLITUDE=A\n1, 1, 1, 1.\n"
    _, rows = ccx(more=mass, model=f"*AMPLITUDE, NAME=A\n{points}", held=2, step=direct(0.01), loads=moving)
    spring = 100.0 * (rows["displacements", 1][-1][1] - rows["displacements", 2][-1][1])
    assert rows["forces", 1][-1][1] == pytest.approx(spring, rel=1e-4)


def test_calculix_without_direct_has_no_control_of_accuracy(ccx):
    """Seven increments for 1.6 periods, u at the end -0.001 or 0.07 for -0.084 (both seen); exit code 0."""
    for dt in (0.05, 0.2):
        code, rows = ccx(model=LET_GO, step=f"*DYNAMIC, ALPHA=0.\n{dt}, 1.")
        assert code == 0 and abs(rows["displacements", 2][-1][1] - 0.1 * math.cos(10.0)) > 0.05


def test_calculix_alpha_is_minus_0_05_unless_given(ccx):
    ends = []
    for words in ("", ", ALPHA=-0.05", ", ALPHA=0."):
        ends.append(ccx(model=LET_GO, step=f"*DYNAMIC, DIRECT{words}\n0.05, 5.")[1]["displacements", 2][-1][1])
    assert ends[0] == ends[1] != ends[2]


def test_calculix_loads_and_tables(ccx):
    """Two curves at a dof are refused, a curve stays after its end, a table of a spring is flat outside."""
    twice = f"{PUSHED}*CLOAD, AMPLITUDE=UP\n2, 1, 5.\n"
    assert ccx(model=f"{ON}*AMPLITUDE, NAME=UP\n0., 0., 10., 1.\n", loads=twice)[0] == 201
    short = "*AMPLITUDE, NAME=ON\n0., 0., 0.5, 1.\n"
    assert ccx(model=short, loads=PUSHED)[1]["displacements", 2][-1][1] == pytest.approx(0.1)
    table = "*ELEMENT, TYPE=SPRINGA, ELSET=Q\n5, 1, 2\n*SPRING, NONLINEAR, ELSET=Q\n\n-10., -0.1\n0., 0.\n10., 0.1\n"
    _, rows = ccx(stiffness="1.e-3", more=table, loads="*BOUNDARY\n2, 1, 1, 0.3\n")
    assert rows["forces", 2][-1][1] == pytest.approx(10.0, rel=1e-3)


def test_calculix_pulls_masses_by_gravity(ccx):
    """GRAV on a MASS of 1 on a spring of 100."""
    _, rows = ccx(loads="*DLOAD\nM, GRAV, 9.81, 1., 0., 0.\n")
    assert rows["displacements", 2][-1][1] == pytest.approx(0.0981)


def test_calculix_trusses_diverge_in_motion(ccx, tmp_path):
    """A pendulum of one T3D2 within 2 s; exit code 201."""
    (tmp_path / "p.inp").write_text(PENDULUM)
    done = subprocess.run(["ccx", "p"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 201 and "solution seems to diverge" in done.stdout
