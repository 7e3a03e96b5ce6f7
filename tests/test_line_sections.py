"""``fem.line_section`` and ``fem line --row``: a row of a sag-tension table is the static state of its deck."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.lines.conductors import shape_of

CASES = [
    {"name": "heavy", "temperature [F]": 0, "ice [in]": 0.5, "wind [psf]": 4, "K [lb/ft]": 0.3},
    {"name": "wind", "temperature [C]": 15, "wind [Pa]": 500},
    {"name": "ice", "temperature [C]": 0, "ice [mm]": 12.7},
    {"name": "every day", "temperature [C]": 15, "average tension limit [N]": 28e3, "creep": "yes"},
    {"name": "hot", "temperature [C]": 100},
]
"""Above the knee of the final state the wires of the last row are slack."""


def bars_of(model, history, label):
    """(3,) force of a bar, at the end."""
    nodes = dict(zip(model.mesh.element_labels.tolist(), model.mesh.element_nodes, strict=True))[label]
    ends = [model.mesh.coordinates[k] + history.of_node(int(model.mesh.node_labels[k]))[-1] for k in nodes]
    way = ends[1] - ends[0]
    return history.of_element(label, "T")[-1] * way / np.linalg.norm(way)


def place(model, history, label):
    return model.mesh.coordinates[model.mesh.node_labels.tolist().index(label)] + history.of_node(label)[-1]


@pytest.mark.long_cases("section-initial")
@pytest.mark.parametrize("state", ["initial", "final"])
@pytest.mark.sampled
@pytest.mark.parametrize(
    "ends", [{"spans": [200, 260, 230]}, {"first": (0, 0, 20), "last": (300, 0, 68)}], ids=["section", "inclined"]
)
def test_rows_are_static_states(ends, state, tmp_path):
    """0.1 % of H, of both end tensions and of the sag are asked for; spans of a section pull alike in every row.

    What remains is the chain of 20 bars per span for the catenary: 1/(2 N^2) of its sag over span, squared.
    """
    table = fem.sag_tension(CASES, section="drake", **ends)
    for row in table.rows if state == "initial" else table.rows[::2]:
        expected = getattr(row, state)
        deck = fem.line_section(
            table, row.condition.name, state=state, bars=20, output=tmp_path / "row.inp", force=True
        )
        model, history = fem.read_deck(deck), fem.run(deck)
        q = np.array([0.0, expected.load.wind, -expected.load.weight])
        down = q / np.linalg.norm(q)
        pulls = []
        for first in range(1, len(model.mesh.element_labels) - len(table.spans), 20):
            nodes = np.array([place(model, history, first + k) for k in range(21)])
            chord = nodes[-1] - nodes[0]
            along = chord - (chord @ down) * down
            along /= np.linalg.norm(along)
            h = [bars_of(model, history, first + k) @ along for k in (0, 9, 19)]
            assert h == pytest.approx([h[0]] * 3, rel=1e-5)  # nothing but the load acts on a span
            pulls.append(bars_of(model, history, first)[0])
            x, depth = (nodes - nodes[0]) @ along, (nodes - nodes[0]) @ down
            near = slice(8, 13)  # a parabola through the nodes about half the span
            sag = np.polyval(np.polyfit(x[near] - 0.5 * x[-1], depth[near], 2), 0.0) - 0.5 * depth[-1]
            if len(table.spans) == 1:
                assert (h[0], sag) == pytest.approx((expected.h, expected.shape.sag), rel=1e-3)
                reaction = [np.linalg.norm(history.of_node(label, "RF")[-1]) for label in (1, 21)]
                assert reaction == pytest.approx([expected.shape.first, expected.shape.last], rel=1e-3)
            else:  # the shape of the table, for this span: its chord is level but for the strings that swing
                sway = np.linalg.norm(chord) / (chord @ along)
                shape = shape_of(h[0], chord @ along, 0.0, expected.load)
                assert sag == pytest.approx(sway**2 * shape.sag, rel=1e-3)
        if len(table.spans) > 1:
            assert pulls == pytest.approx([expected.h] * len(pulls), rel=1e-3)


@pytest.mark.long
def test_a_section_moves_as_its_ruling_span(tmp_path):
    """Ice comes onto strung spans whose strings swing: they pull as one span of the ruling length does (a long string).

    That is the theory of the table (Ehrenburg 1935; Motlis et al., IEEE Trans. Power Delivery 14 (1999) 1115).
    """
    spans, pulls = [240, 300, 330], {}
    table = fem.sag_tension(CASES[3:4], section="drake", spans=spans)
    single = fem.sag_tension(CASES[3:4], section="drake", spans=[table.span])
    for each, name in ((table, "many"), (single, "one")):
        deck = fem.line_section(each, "every day", bars=20, string=(10.0, 60.0), output=tmp_path / f"{name}.inp")
        text = deck.read_text() + "*STEP, NLGEOM, INC=200\n*STATIC\n0.25, 1.\n*DLOAD\nWIRE, BZ, -10.\n*END STEP\n"
        model = fem.parse_deck(text)
        history = fem.run(model)
        pulls[name] = [bars_of(model, history, first)[0] for first in range(1, 20 * len(each.spans), 20)]
    assert pulls["many"] == pytest.approx(pulls["one"] * 3, rel=1e-3)  # reached: 0.5e-3
    fixed = fem.sag_tension(CASES[3:4], section="drake", spans=[240])
    deck = fem.line_section(fixed, "every day", bars=20, output=tmp_path / "fixed.inp")
    model = fem.parse_deck(deck.read_text() + text[text.rindex("*STEP") :])
    apart = bars_of(model, fem.run(model), 1)[0]
    assert abs(apart / pulls["one"][0] - 1) > 0.02  # dead ends at both towers: another tension


@pytest.mark.long
def test_an_event_begins_at_rest(tmp_path, monkeypatch):
    """Before ice falls nothing moves; then the middle of its span rises; a broken wire has no tension at its end."""
    table = fem.sag_tension(CASES, section="drake", spans=[200, 260, 230])
    deck = fem.line_section(table, "ice", bars=10, event="ice", height=20, output=tmp_path / "ice.inp")
    still = deck.read_text().replace("*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, REMOVE\nICE2\n", "")
    calm = fem.run(fem.parse_deck(still.replace("time = 20.0", "time = 0.5")))
    assert np.abs(calm.of_node(16)).max() < 1e-3  # strings lengthen
    moved = fem.run(fem.parse_deck(deck.read_text().replace("time = 20.0", "time = 2.0")))
    assert moved.of_node(16)[:, 2].max() > 0.3
    deck = fem.line_section(table, "every day", bars=10, event="break", height=20, output=tmp_path / "break.inp")
    broken = fem.run(fem.parse_deck(deck.read_text().replace("time = 6.0", "time = 0.2")))
    assert broken.of_element(2, "T")[-1] < 0.1 * broken.of_element(2, "T")[0]
    deck = fem.line_section(table, "every day", bars=10, event="gust", height=20, output=tmp_path / "gust.inp")
    blown = fem.run(fem.parse_deck(deck.read_text().replace("time = 120.0", "time = 5.0")))
    swing = blown.of_node(16)[:, 1]
    begin = int(np.searchsorted(blown.time, 2.0))
    assert np.arctan2(swing[begin], 4) > 0.1 and np.ptp(swing[begin:]) > 0.05


@pytest.mark.long
def test_gusts_blow_on_ice_too(tmp_path):
    """Drake is 1.108 in thick, and 25.4 mm more in ice; ice that falls off leaves the wire alone in the air at rest."""
    table = fem.sag_tension(CASES, section="drake", spans=[200, 260, 230])
    iced = {"gust": 0.0281432 + 0.0254, "ice": 0.0281432}
    for event, width in iced.items():
        deck = fem.line_section(table, "ice", bars=10, event=event, height=20, output=tmp_path / f"{event}.inp")
        widths = [float(line.split(",")[3]) for line in deck.read_text().splitlines() if "WDD" in line]
        assert widths and widths == pytest.approx([width] * len(widths), rel=1e-3)


def test_the_command_and_what_it_refuses(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cases.csv").write_text("name, temperature [C], ice [mm], tension limit [kN]\ncold, -20, , 30\nice, 0, 10,\n")
    words = "line --section drake --sag-tension cases.csv --spans 250,300 --row ice --state final --bars 8 --event ice"
    assert main([*words.split(), "--height", "18", "--string", "3,80", "--output", "here.inp"]) == 0
    model = fem.read_deck("here.inp")
    assert len(model.mesh.element_labels) == 2 * 8 + 1 and len(model.seabeds) == 1
    begin = "line --section drake --sag-tension cases.csv"
    for wrong, message in (
        ("--spans 250,300 --row icy", "there is no row icy"),
        ("--spans 250 --row cold --event ice", "row cold has no ice"),
        ("--spans 250 --row cold --event gust", "gust needs heights over the ground"),
        ("--first 0,0,9 --last 200,0,9 --row cold --height 9", "--height belongs to --spans"),
        ("--spans 250 --row cold --bars 1", "at least 2 bars"),
    ):
        assert main([*begin.split(), *wrong.split()]) == 2
        assert message in capsys.readouterr().err
    assert main("line --section drake --sag 9 --last 9,0,0 --row cold".split()) == 2
    assert "--row belongs to --sag-tension" in capsys.readouterr().err
    table = fem.sag_tension("cases.csv", section="drake", spans=[250])
    for given, message in (({"state": "old"}, "initial, final"), ({"event": "storm"}, "no event storm")):
        with pytest.raises(CommandError, match=message):
            fem.line_section(table, "cold", **given)
