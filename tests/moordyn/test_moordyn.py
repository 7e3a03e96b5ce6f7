"""``fem import moordyn``: what files say stands in the deck, or is named; what cannot be is refused by place."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.codes.from_moordyn import chains_of
from fem.codes.moordyn_files import on_body, read

FILE = Path(__file__).with_name("buoy.txt")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> str:
    deck = tmp_path_factory.mktemp("moordyn") / "buoy.inp"
    assert main(["import", "moordyn", str(FILE), "--output", str(deck)]) == 0
    return deck.read_text()


def rows_after(text: str, card: str) -> list[list[str]]:
    """Words of the data lines of the first card of that head."""
    (_, _, rest) = text.partition(f"\n{card}")
    lines = rest.split("\n")[1:]
    return [line.split(", ") for line in lines[: next(k for k, line in enumerate(lines) if line.startswith("*"))]]


def test_lines_that_meet_two_by_two_are_one() -> None:
    """1 and 2 meet in a free point; 3, 4, 5 meet in another, where each has an end of its own."""
    chains = chains_of(read(FILE))
    assert [[line.label for line in chain.lines] for chain in chains] == [[1, 2], [3], [4], [5]]
    assert [chain.points for chain in chains] == [(1, 2, 3), (7, 6), (7, 4), (7, 5)]
    assert [chain.nodes for chain in chains] == [[1001, 1011, 1017], [3001, 3006], [4001, 4005], [5001, 5005]]


def test_numbers_of_the_file_stand_in_the_deck(imported: str) -> None:
    assert rows_after(imported, "*NGEN") == [["1001", "1011", "1", "80.0"], ["1011", "1017", "1", "45.0"]]
    assert rows_after(imported, "*AQUA") == [
        ["-50.0", "0.", "9.80665", "1000.0"],
        ["0.0", "0.1", "0.0", "-50.0"], ["0.4", "0.2", "0.0", "-10.0"], ["0.5", "0.2", "0.0", "0.0"],
    ]  # fmt: skip
    assert rows_after(imported, "*SEABED, ELSET=TYPE_CHAIN") == [["100000.0", "10000.0", "0.09"], ["0.4", "0.4"]]
    loads = dict(re.findall(r"^((?:PLAIN_)?TYPE_\w+, [A-Z]+), 1., (.*)$", imported, re.M))
    assert loads == {
        "TYPE_CHAIN, PB": "0.09", "PLAIN_TYPE_CHAIN, FDD": "0.09, 1.4", "PLAIN_TYPE_CHAIN, FDT": "0.09, 0.5",
        "TYPE_CHAIN, FI": "0.09, 2.0, 1.0, , 0.25",
        "TYPE_ROPE, PB": "0.08", "PLAIN_TYPE_ROPE, FDD": "0.08, 1.6", "TYPE_ROPE, FI": "0.08, 2.1, 1.1, , 0.0",
    }  # fmt: skip
    assert float(rows_after(imported, "*CLOAD")[0][2]) == pytest.approx(1000 * 9.80665 * 0.4)
    # A half of critical damping of 8 m of chain: h sqrt(m/EA) zeta; B A / (E A).
    betas = [float(value) for value in re.findall(r"BETA=(\S+)", imported)]
    assert betas[:2] == pytest.approx([0.5 * 8 * np.sqrt(80 / 4e8), 2e4 / 9e6], rel=1e-8)
    assert imported.count("*EQUATION") == 6  # two further ends at point 7


def test_lines_with_bending_stiffness_bend(imported: str) -> None:
    """EI and EA of the rope; where two of its lines meet they are hinged, as MoorDyn's are."""
    assert rows_after(imported, "*BEAM GENERAL SECTION, ELSET=LINE2") == [
        ["1.0", repr(100 / 9e6), "0.0", repr(100 / 9e6)]
    ]
    assert imported.count("*ELEMENT, TYPE=B31") == 4 and imported.count("*SOLID SECTION") == 1
    moorings = read(FILE)
    moorings.types["chain"] = moorings.types["rope"]
    assert [[line.label for line in chain.lines] for chain in chains_of(moorings)] == [[1], [2], [3], [4], [5]]


HOSE = """---- LINE TYPES ----
TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(-) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
hose 0.2 60.0 2.0e7 -0.8 1.0e4 3.0 0.0 0.1 0.0
---- POINTS ----
ID Type X Y Z M V CdA Ca
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed 0 0 -10 0 0 0 0
2 Fixed 12 0 -12 0 0 0 0
---- LINES ----
ID LineType AttachA AttachB UnstrLen NumSegs Outputs
(#) (-) (-) (-) (m) (-) (-)
1 hose 1 2 20.0 20 -
---- OPTIONS ----
9.80665 g
1025 WtrDnsty
100 WtrDpth
"""


def test_a_hose_bends_as_in_moordyn(tmp_path, capsys):
    """MoorDyn 2.7.2, 240 s after its own start (it still swings by 2 mm along x): nodes 3, 5, 10 and 15 of 20.

    Without EI node 5 lies 0.26 m from there. Both programs have the angle between two segments over their length.
    """
    (tmp_path / "hose.txt").write_text(HOSE)
    assert main(["import", "moordyn", str(tmp_path / "hose.txt"), "--output", str(tmp_path / "hose.inp")]) == 0
    text = (tmp_path / "hose.inp").read_text()
    history = fem.run(fem.parse_deck(text[: text.index("** add the motion")]))
    labels = [1004, 1006, 1011, 1016]
    drawn = [history.mesh.coordinates[history.mesh.nodes_of(label)[0]] for label in labels]
    places = np.array(drawn) + np.array([history.of_node(label)[-1] for label in labels])
    expected = np.array([[0.81563, -12.88664], [1.58253, -14.73254], [5.19565, -17.97132], [9.69008, -16.40158]])
    assert places[:, [0, 2]] == pytest.approx(expected, abs=2e-3)


def test_a_turned_body_carries_its_points(imported: str) -> None:
    """A quarter turn about z takes (0, 5, 0) to (-5, 0, 0); roll, pitch, yaw as MoorDyn's Rx Ry Rz."""
    assert [float(word) for word in {row[0]: row[1:] for row in rows_after(imported, "*NODE")}["1017"]] == (
        pytest.approx([10 - 5, 0, -2], abs=1e-12)
    )
    angles = np.radians([20.0, -35.0, 50.0])
    c, s = np.cos(angles), np.sin(angles)
    turns = (
        np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
        @ np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
        @ np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    )
    found = on_body((1.0, 2.0, 3.0), (7.0, 8.0, 9.0, 20.0, -35.0, 50.0))
    assert found == pytest.approx(turns @ [1, 2, 3] + [7, 8, 9], rel=1e-12)


def test_nothing_is_dropped_in_silence(imported: str) -> None:
    for what in ("point 2: CdA = 1.5", "outputs of lines: p, pt",
                 "WaveKin = 2 left out, there are no waves", "own solver: writeLog, dtM",
                 "coupled points are fixed", "BA damps slack segments in MoorDyn, too"):  # fmt: skip
        assert what in imported
    assert "** point 7 (free): node 3001, 4001, 5001" in imported


def test_one_list_counts_what_was_taken_changed_and_left_out(tmp_path, capsys, imported: str) -> None:
    """The counts are those of the lines below them, and the list is the heading's."""
    (tmp_path / "current_profile.txt").write_text(FILE.with_name("current_profile.txt").read_text())
    (tmp_path / "buoy.txt").write_text(FILE.read_text())
    assert main(["import", "moordyn", str(tmp_path / "buoy.txt"), "--output", str(tmp_path / "out.inp")]) == 0
    said = capsys.readouterr().out.splitlines()[:-1]
    assert said[0] == "took: 2 line types, 7 points, 5 lines, 29 segments, 1 body, 8 options"
    assert said == [line[3:] for line in imported.splitlines()[2 : 2 + len(said)]]
    heads = {line.partition(":")[0]: number for number, line in enumerate(said) if not line.startswith(" ")}
    counted = [int(said[heads[name]].partition(": ")[2]) for name in ("changed", "left out")]
    assert counted == [heads["left out"] - heads["changed"] - 1, len(said) - heads["left out"] - 1]


def test_what_nothing_uses_is_left_out_by_name(tmp_path, capsys) -> None:
    """Points, types and words that a file has, and that no line of the deck stands for."""
    rows = FILE.read_text().splitlines()
    at = next(k for k, row in enumerate(rows) if row.startswith("1     chain"))
    rows[at] += " and more"
    rows.insert(at - 3, "9 Fixed 0 0 0 5 0 0 0")
    (tmp_path / "current_profile.txt").write_text(FILE.with_name("current_profile.txt").read_text())
    (tmp_path / "buoy.txt").write_text("\n".join(rows))
    assert main(["import", "moordyn", str(tmp_path / "buoy.txt"), "--output", str(tmp_path / "out.inp")]) == 0
    said = capsys.readouterr().out
    assert f"  lines with words behind their last column: {at + 2}\n" in said
    assert "  points without a line: 9\n" in said
    assert "  mass, volume, CdA and Ca of points that do not move by themselves: 9\n" in said


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("0.25\n", "\n", (6, 82), "has 10 columns, this one 9; MoorDyn v2 has TypeName"),
        ("4.0e8", "ea.txt", (6, 31), "EA is neither a number nor a file: there is no "),
        (
            "2     Free ",
            "2     Flee ",
            (16, 7),
            "unknown attachment 'Flee'; known are Fixed, Coupled, Free, Turbine1 and Body1",
        ),
        ("3     Body1", "3     Body2", (17, 7), "there is no body 2"),
        ("1     chain ", "1     chian ", (25, 7), "there is no line type 'chian'; there are chain, rope"),
        ("2         80 ", "R1A       80 ", (25, 27), "there is no end of a rod R1A"),
        ("2         80 ", "9         80 ", (25, 27), "there is no point 9"),
        ("2         80 ", "2         -8 ", (25, 37), "the natural length must be positive, got -8"),
        ("45        6 ", "45        .5", (26, 47), "a whole number of at least 1"),
        ("7     Connect ", "6     Connect ", (21, 1), "the point 6 is defined twice"),
        ("3     rope ", "2     rope ", (27, 1), "the line 2 is defined twice"),
        ("1000.0 ", "heavy  ", (36, 1), "expected WtrDnsty, a number, got 'heavy'"),
        ("- LINES -", "- ROPES -", (1, 1), "no lines in it"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(tmp_path, capsys, old, new, place, message):
    text = FILE.read_text()
    assert text.count(old) == 1
    (tmp_path / "buoy.txt").write_text(text.replace(old, new))
    (tmp_path / "current_profile.txt").write_text(FILE.with_name("current_profile.txt").read_text())
    assert main(["import", "moordyn", str(tmp_path / "buoy.txt"), "--output", str(tmp_path / "out.inp")]) == 2
    error = capsys.readouterr().err
    assert f"buoy.txt:{place[0]}:{place[1]}: error:" in error and message in error
    assert not (tmp_path / "out.inp").exists()


def test_a_current_that_is_not_there_is_asked_for(tmp_path, capsys):
    (tmp_path / "buoy.txt").write_text(FILE.read_text())
    assert main(["import", "moordyn", str(tmp_path / "buoy.txt"), "--output", str(tmp_path / "out.inp")]) == 2
    assert "current_profile.txt, which does not exist" in capsys.readouterr().err


def test_the_deck_carries_what_it_weighs(tmp_path, capsys):
    """In still water supports and the bottom carry the weights of lines and mass, less what the water carries."""
    text = FILE.read_text().replace("1          Currents", "0          Currents")
    (tmp_path / "buoy.txt").write_text(text)
    assert main(["import", "moordyn", str(tmp_path / "buoy.txt"), "--output", str(tmp_path / "buoy.inp")]) == 0
    history = fem.run(tmp_path / "buoy.inp", parameters={"time": 0.1})
    last = np.flatnonzero(history.of_step(1))[-1]
    held = [1001, 1017, 3006, 4005, 5005]
    carried = sum(history.of_node(label, "RF")[last] for label in held)
    carried = carried + sum(history.of_node(label, "CFORCE")[last] for label in history.mesh.node_labels.tolist())
    pipe = np.pi / 4 * np.array([0.09, 0.08]) ** 2
    lengths = np.array([80, 45 + 35 + 42 + 42])
    weight = 9.80665 * (lengths @ (np.array([80, 6.5]) - 1000 * pipe) + 150 - 1000 * 0.4)
    assert carried == pytest.approx([0, 0, weight], abs=1e-5 * weight)
    assert history.of_node(3001)[last] == pytest.approx(history.of_node(4001)[last], abs=1e-9)  # tied


def test_options_that_moordyn_does_not_have_are_named(tmp_path, capsys):
    """Those of its solver are left out in one line; a misspelt one is not among them."""
    (tmp_path / "hose.txt").write_text(
        HOSE.replace("1025 WtrDnsty", "1025 WtrDnsty\n0.001 dtM\n1 writeLog\n3e6 kBottt\n")
    )
    assert main(["import", "moordyn", str(tmp_path / "hose.txt"), "--output", str(tmp_path / "hose.inp")]) == 0
    said = capsys.readouterr().out
    assert "options of MoorDyn's own solver: dtM, writeLog\n" in said
    assert "option kBottt, which is unknown; did you mean kbot?" in said
