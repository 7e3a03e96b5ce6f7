"""Water, waves, bottom, failures, points and laws of a MoorDyn file: what the deck has of them, what its run gives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.codes.moordyn_files import FileRow, point
from fem.codes.moordyn_water import profile, recorded

TAUT = """----- MoorDyn Input File -----
a taut vertical line
---------------------- LINE TYPES -----
TypeName   Diam    Mass/m     EA         BA/-zeta    EI         Cd     Ca     CdAx    CaAx
(name)     (m)     (kg/m)     (N)        (N-s/-)     (N-m^2)    (-)    (-)    (-)     (-)
{type}     0.05    4.0        {law}      0          1.2    1.0    0.0     0.0
---------------------- POINTS -----
ID    Type      X       Y       Z       Mass   Volume  CdA    Ca
(#)   (-)       (m)     (m)     (m)     (kg)   (m3)   (m^2)  (-)
1     Fixed     7       3       -50     0      0       0      0
2     {kind}    7       3       -25     0      0.01    {area} 0.8
3     Coupled   7       3       0       0      0       0      0
{failure}---------------------- LINES -----
ID   LineType   AttachA  AttachB  UnstrLen  NumSegs  LineOutputs
(#)   (name)     (#)      (#)       (m)       (-)     (-)
1     {type}      1        2         24.95     5       -
2     {type}      2        3         24.95     5       -
---------------------- OPTIONS -----
50         depth
1025       WtrDnsty
{options}
----- need this line -----
"""
FAILURE = """---------------------- FAILURE -----
FailureID  Point    Line(s)   FailTime   FailTen
()           ()       (,)      (s or 0)   (N or 0)
1          2        2           {time}        {tension}
"""
FRONT = """MoorDyn Waves and Currents input file
any notes
------------------- WAVES -----------------
{waves}   WaveKinMod  - type of wave input
"eta.txt"            WaveKinFile - the surface at 0,0,0
0.5                  dtWave      - time step
30                   WaveDir     - wave heading (deg)
2                    - X wave input type
-800, 10, 101        - X wave grid point data
------------------- CURRENT ---------------
{current}            CurrentMod  - type of current input
2                    - Z wave input type
-600 0 50            - Z wave grid point data
z-depth     x-current      y-current
(m)           (m/s)         (m/s)
0.0             0.3          0.0
50              0.3          0.0
------------------- need this line --------
"""
LINEAR = "1e7 0"


def imported(folder: Path, options: str = "", expected: int = 0, **changed: str) -> str:
    """The deck of the line, with other options, law, failures."""
    given = {"type": "rope", "law": LINEAR, "kind": "Free", "area": "0", "failure": "", **changed}
    (folder / "line.txt").write_text(TAUT.format(options=options, **given))
    assert main(["import", "moordyn", str(folder / "line.txt"), "--output", str(folder / "line.inp")]) == expected
    return (folder / "line.inp").read_text() if not expected else ""


def pushed(folder: Path) -> tuple[float, fem.History]:
    """Force of the stream on the supports at the end of statics."""
    history = fem.run(folder / "line.inp", parameters={"time": 0.2})
    last = np.flatnonzero(history.of_step(2))[-1]
    return -sum(float(history.of_node(label, "RF")[last, 0]) for label in (1001, 1011)), history


def test_a_current_of_a_waterkin_file_drags_a_taut_line(tmp_path: Path) -> None:
    """rho/2 Cd D U^2 per length (natural), and rho/2 CdA U^2 of the point: taut, so that it hardly turns."""
    (tmp_path / "water.dat").write_text(FRONT.format(waves=0, current=1))
    deck = imported(tmp_path, "water.dat WaterKin", area="0.7")
    assert "left out: depth" not in deck and "WaterKin" not in deck
    force, history = pushed(tmp_path)
    assert force == pytest.approx(0.5 * 1025 * 0.09 * (1.2 * 0.05 * 49.9 + 0.7), rel=2e-4)
    assert history.time[np.flatnonzero(history.of_step(3))[0]] == 2.0  # where MoorDyn's time begins
    mass = next(entry.mass for entry in history.model.masses if entry.element_set == "ADDED2")
    assert mass == pytest.approx(1025 * 0.01 * 0.8)


def test_a_current_that_changes_in_time_is_a_profile_times_a_curve(tmp_path: Path) -> None:
    """0.2 m/s at the start of the motion, 0.4 later; a profile of changing shape is refused."""
    path = tmp_path / "current_profile_dynamic.txt"
    path.write_text("title\nmore\n\n\n -50. 0.\n\n 0. .1 .2 .0 .0\n 10. .2 .4 .0 .0\n")
    deck = imported(tmp_path, "2 Currents")
    model = fem.read_deck(tmp_path / "line.inp")
    assert model.amplitudes["CURRENT"].points.tolist() == [[2.0, 0.5], [12.0, 1.0]]
    assert "TYPE_ROPE, FDD, 1., 0.05, 1.2, 1., CURRENT" in deck and "\n0.4, 0.0, 0.0, 0.0" in deck
    path.write_text("title\nmore\n\n\n -50. 0.\n\n 0. .1 .2\n 10. .2 .2\n")
    (tmp_path / "line.inp").unlink()
    imported(tmp_path, "2 Currents", expected=2)


def test_waves_are_the_sum_of_their_components(tmp_path: Path) -> None:
    """MoorDyn's WaveKin 7: sum of a sin(w t - k.x + arg A), t from the motion on; velocities of first order.
    Without the option g it is 9.80665, MoorDyn-C's (source/MoorDyn2.cpp)."""
    (tmp_path / "wave_frequencies.txt").write_text("0.0 0. 0.\n0.6 0.4 0.3\n0.9 0.0 0.2 0.5\n")
    imported(tmp_path, "7 WaveKin")
    history = fem.run(tmp_path / "line.inp", parameters={"time": 1.0})
    rows = history.of_step(3)
    time = history.time[rows] - 2.0
    eta, speed = np.zeros_like(time), np.zeros((3, len(time)))
    for omega, amplitude, angle in ((0.6, 0.4 + 0.3j, 0.0), (0.9, 0.2j, 0.5)):
        k = omega**2 / 9.80665
        for _ in range(100):
            k = omega**2 / 9.80665 / np.tanh(50 * k)
        way = k * (np.cos(angle) * 7.0 + np.sin(angle) * 3.0)
        phase = omega * time - way + np.angle(amplitude)
        eta += abs(amplitude) * np.sin(phase)
        size = abs(amplitude) * omega / np.sinh(50 * k)
        speed[:2] += size * np.sin(phase) * np.array([[np.cos(angle)], [np.sin(angle)]])
    assert history.of_node(1001, "FE")[rows] == pytest.approx(eta, abs=1e-9)
    bottom = history.of_node(1001, "FV")[rows]  # at z = -50 the horizontal part alone is left: w a/sinh kh
    assert bottom == pytest.approx(speed.T, abs=1e-9)


def test_a_record_of_the_surface_is_its_fourier_components(tmp_path: Path) -> None:
    """A cosine of 16 s, sampled over two periods, is one wave, 30 degrees from x."""
    time = np.arange(0.0, 32.5, 0.5)
    lines = [f"{t:.6f} {0.8 * np.cos(2 * np.pi * t / 16 - 0.7):.12f}" for t in time]
    (tmp_path / "eta.txt").write_text("\n".join(lines))
    (tmp_path / "water.dat").write_text(FRONT.format(waves=1, current=0))
    deck = imported(tmp_path, '"water.dat" WaterKin')
    (row,) = re.findall(r"WHEELER\n(.*)\n\*", deck)
    found = [float(word) for word in row.split(", ")]
    # cos(w t - 0.7) = cos(- w (t + 2) + 0.7 + 2 w)
    expected = [0.8, 16.0, np.degrees(0.7 + 2 * 2 * np.pi / 16), np.cos(np.pi / 6), 0.5]
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("SEASTATE WaterKin", "WaterKin SEASTATE takes waves and currents from OpenFAST"),
        ("gone.dat WaterKin", "gone.dat, which does not exist"),
        ("hybrid.dat WaterKin", "waves and currents of OpenFAST's SeaState are not in MoorDyn's files"),
        ("7 WaveKin", "wave_frequencies.txt, which does not exist"),
    ],
)
def test_what_has_no_place_in_a_deck_is_refused_by_name(tmp_path, capsys, options, message) -> None:
    (tmp_path / "hybrid.dat").write_text(FRONT.format(waves=2, current=1))
    imported(tmp_path, options, expected=2)
    assert message in capsys.readouterr().err


C_FORM = "2 2\n-100 100\n-50 150\n-100 -50 60\n-100 150 64\n100 -50 50\n100 150 54\n"
F_FORM = "---- Bathymetry ----\nnGridX 2\nnGridY 2\n  -100 100\n-50 60 50\n150 64 54\n"


@pytest.mark.parametrize(("text", "option"), [(C_FORM, "SeafloorFile"), (F_FORM, "WtrDpth"), (F_FORM, "depth")])
def test_a_bathymetry_that_is_a_plane_is_a_sloping_bottom(tmp_path: Path, text: str, option: str) -> None:
    """z = -56 + x/20 - y/50: the depth of its four corners; waves see the mean depth, 57 m."""
    (tmp_path / "floor.txt").write_text(text)
    deck = imported(tmp_path, f"floor.txt {option}").replace("*END STEP", "*END STEP", 1)
    model = fem.read_deck(tmp_path / "line.inp")
    (bed,) = model.seabeds
    corners = np.array([[-100, -50, -60], [-100, 150, -64], [100, -50, -50], [100, 150, -54.0]])
    assert bed.depth(corners, 2) == pytest.approx(np.zeros(4), abs=1e-9)
    assert "*AQUA\n-57.0" in deck
    assert "**   the bottom slopes: *SEABED presses at right angles" in deck


HILLY = "2 2\n-90 90\n-90 90\n-90 -90 50\n-90 90 60\n90 -90 60\n90 90 50\n"
SMALL = "2 2\n0 5\n0 5\n0 0 50\n0 5 50\n5 0 51\n5 5 51\n"
MOORPY = "--- MoorPy Bathymetry Input File ---\nnGridX 3\nnGridY 2\n-100 0 100\n-50 60 50 55\n150 64 54 50\n"


@pytest.mark.parametrize(
    ("text", "depths"),
    [
        (HILLY, [[50.0, 60.0], [60.0, 50.0]]),
        (SMALL, [[50.0, 50.0], [51.0, 51.0]]),
        (MOORPY, [[60.0, 64.0], [50.0, 54.0], [55.0, 50.0]]),
    ],
)
def test_other_bathymetries_are_grids(tmp_path: Path, text: str, depths: list[list[float]]) -> None:
    """No plane, and a sloping one that ends below a line: all points are in the deck; waves see the mean depth."""
    (tmp_path / "floor.txt").write_text(text)
    deck = imported(tmp_path, "floor.txt SeafloorFile")
    (bed,) = fem.read_deck(tmp_path / "line.inp").seabeds
    assert (-bed.grid.z).tolist() == depths
    assert f"*AQUA\n{-float(np.mean(depths))!r}" in deck
    assert "**   the bottom slopes: *SEABED presses at right angles" in deck


def test_dynamic_stiffness_of_types(tmp_path: Path) -> None:
    """EA_s|EA_d: a spring EA_d in series with EA_1 beside BA_s; 1/EA_s = 1/EA_d + 1/EA_1. With a slope, of the mean."""
    deck = imported(tmp_path, law="1e7|3e7 2e8|0")
    (row,) = set(re.findall(r"TIME=KELVIN\n(.*)\n", deck))
    compliance, time = map(float, row.split(", "))
    assert 3e7 / (1.0 + compliance) == pytest.approx(1e7)
    slow = 1.0 / (1.0 / 1e7 - 1.0 / 3e7)
    assert time == pytest.approx(2e8 / slow)
    assert "MODULI=INSTANTANEOUS\n30000000.0" in deck and "BA_d" not in deck
    (tmp_path / "line.inp").unlink()
    deck = imported(tmp_path, law="1e7|3e7|12.5 2e8|5e6")
    assert "*ELASTIC\n10000000.0\n*DYNAMIC STIFFNESS\n30000000.0, 12.5, 200000000.0" in deck
    assert "BA_d = 5e+06, a dashpot beside the spring EA_d, is left out" in deck
    assert fem.read_deck(tmp_path / "line.inp")
    (tmp_path / "line.inp").unlink()
    imported(tmp_path, law="3e7|1e7 2e8", expected=2)
    imported(tmp_path, law="1e7|3e7 0", expected=2)  # MoorDyn 2.7.2: not a number


def test_dashpot_beside_the_fast_spring(tmp_path: Path) -> None:
    """EA_s|EA_d with BA 0|BA_d, MoorDyn's law of strains: EA_1 acts at once, then EA_s; the time of creep is BA_d/EA_d.
    tests/codes/test_behaviours.py has the same of MoorDyn."""
    deck = imported(tmp_path, law="1e7|3e7 0|6e7")
    assert "MODULI=INSTANTANEOUS\n15000000.0" in deck and "BA_d" not in deck
    (row,) = set(re.findall(r"TIME=KELVIN\n(.*)\n", deck))
    compliance, time = map(float, row.split(", "))
    assert 1.5e7 / (1.0 + compliance) == pytest.approx(1e7) and time == pytest.approx(6e7 / 3e7)


def test_friction_gravity_and_slopes_of_moordyn_are_noted(tmp_path, capsys) -> None:
    """The damper of mu FricDamp, 200 by default, whatever else the file says of it."""
    imported(tmp_path, "0.4 FrictionCoefficient")
    said = capsys.readouterr().out
    assert "a damper of mu FricDamp = 80 N s/m" in said and "no option g: 9.80665" in said and "FairTen" in said
    (tmp_path / "line.inp").unlink()
    imported(tmp_path, "0.4 FrictionCoefficient\n1e5 FricDamp\n9.81 g")
    said = capsys.readouterr().out
    assert "mu FricDamp = 40000 N s/m" in said and "no option g" not in said


def test_lines_part_at_a_time_or_a_tension(tmp_path: Path) -> None:
    """The bar of the line beside the point goes, at MoorDyn's time, or at a tension, whichever comes first."""
    deck = imported(tmp_path, failure=FAILURE.format(time=0.1, tension=60000))
    assert "*FAILURE, TYPE=TIME\n1006, 2.1\n*FAILURE, TYPE=TENSION\n1006, 60000.0\n" in deck
    history = fem.run(tmp_path / "line.inp", parameters={"time": 0.15})
    broken = [(event.element, event.time) for event in history.events if event.event == "break"]
    assert broken == [(1006, pytest.approx(2.1))]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("1          2        2 ", "1          3        1 ", "line 1 does not end at point 3"),
     ("1          2        2 ", "1          2        1,2 ", "lines that break off a point and stay connected"),
     ("1          2        2 ", "1          R1a      2 ", "failures at rods")],
)  # fmt: skip
def test_failures_that_cannot_be_are_refused(tmp_path, capsys, old, new, message) -> None:
    imported(tmp_path, expected=2, failure=FAILURE.format(time=1, tension=0).replace(old, new))
    assert message in capsys.readouterr().err


def test_types_of_like_names_stay_apart(tmp_path: Path) -> None:
    text = TAUT.format(options="", type="ro-pe", law=LINEAR, kind="Free", area="0", failure="")
    text = text.replace("ro-pe     0.05", "ro_pe 0.07 5. 2e7 0 0 1. 1. 0 0\nro-pe     0.05", 1)
    text = text.replace("2     ro-pe ", "2     ro_pe ", 1)
    (tmp_path / "line.txt").write_text(text)
    assert main(["import", "moordyn", str(tmp_path / "line.txt"), "--output", str(tmp_path / "line.inp")]) == 0
    sets = fem.read_deck(tmp_path / "line.inp").mesh.element_sets
    assert len(sets["TYPE_RO_PE"]) == len(sets["TYPE_RO_PE_2"]) == 5
    assert not set(sets["TYPE_RO_PE"]) & set(sets["TYPE_RO_PE_2"])


def test_waves_of_a_record_are_its_surface_whenever_it_begins(tmp_path: Path) -> None:
    """Two waves, the shortest that 21 samples hold among them, from t = 5 on: cos(-omega t + phase) add up to it."""
    times, dt = 5.0 + 0.5 * np.arange(22), 0.5
    omegas = 2.0 * np.pi / (21 * dt) * np.array([3, 10])
    surface = 1.5 * np.cos(omegas[0] * times + 0.4) + 0.5 * np.cos(omegas[1] * times - 1.1)
    path = tmp_path / "wave_elevation.txt"
    path.write_text(
        "".join(f"{time!r} {height!r}\n" for time, height in zip(times.tolist(), surface.tolist(), strict=True))
    )
    waves, notices = recorded(path, "the test takes the waves", None, dt, 0.0)
    assert [wave.omega for wave in waves] == pytest.approx(omegas) and not notices
    found = sum(wave.amplitude * np.cos(wave.phase - wave.omega * times) for wave in waves)
    assert found == pytest.approx(surface, abs=1e-9)


def test_depths_of_a_current_count_downwards_with_any_sign() -> None:
    """MoorDyn-F has them as depths or as heights; elevations rise in a deck."""
    text = "z-depth x-current y-current\n(m) (m/s) (m/s)\n0 1.0 0.0\n20 0.5 0.1\n-100 0.0 0.2\n--- END ---\n"
    rows = [FileRow("f", at, line, tuple(line.split())) for at, line in enumerate(text.splitlines(), 1)]
    assert profile(rows) == ((-100.0, 0.0, 0.2, 0.0), (-20.0, 0.5, 0.1, 0.0), (0.0, 1.0, 0.0, 0.0))


def test_the_drag_of_a_point_acts_in_all_directions_on_the_bars_beside_it(tmp_path: Path) -> None:
    """0.7 m2 on two bars of 4.99 m: d l Cd across and pi d l Ct along, beside that of the line, Cd = 1.2."""
    deck = imported(tmp_path, area="0.7")
    found = re.findall(r"^(\d+), (FD[DT]), 1., 0.05, (.*)$", deck, re.M)
    areas = {"FDD": 0.05 * 4.99, "FDT": np.pi * 0.05 * 4.99}
    assert sorted({bar for bar, *_ in found}) == ["1005", "1006"] and len(found) == 4
    for _, kind, coefficient in found:
        own = float(coefficient) - (1.2 if kind == "FDD" else 0.0)
        assert own * areas[kind] == pytest.approx(0.35, rel=1e-9)


def test_points_of_old_files_have_forces_before_their_drag() -> None:
    """Version 1: Node Type X Y Z M V FX FY FZ CdA Ca."""
    text = "4 Connect 1 2 -3 50 0.1 7 8 9 1.5 0.4"
    found = point(FileRow("f", 1, text, tuple(text.split())), {})
    assert (found.mass, found.volume, found.force) == (50.0, 0.1, (7.0, 8.0, 9.0))
    assert (found.drag_area, found.added) == (1.5, 0.4)
