"""``fem.sag_tension`` and ``fem line --sag-tension``: published tables, limits, units, what is refused."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.lines.sagging import average, largest

FOOT, POUND = 0.3048, 4.4482216
HEAVY = {"ice [in]": 0.5, "wind [psf]": 4, "K [lb/ft]": 0.3}
BARE = (-20, 0, 30, 60, 90, 120, 167, 212)
AT = "average tension limit [lb]"

TABLE_14_5 = (
    *(("13.61", 11318, "13.55", 11361), ("13.93", 9224, "13.33", 9643), ("8.22", 8161, "7.60", 8824)),
    *(("9.19", 7301, "8.26", 8115), ("10.75", 6242, "9.39", 7142), ("12.36", 5429, "10.65", 6300)),
    *(("13.96", 4809, "11.99", 5596), ("15.52", 4330, "13.37", 5020), ("16.97", 3960, "15.53", 4326)),
    ("18.04", 3728, "17.52", 3837),
)
"""Final sag [ft], tension [lb], initial. Douglass, Thrash: Sag and Tension of Conductor, table 14.5 (Grigsby, 2006)."""
APPENDIX_G4 = (
    *(("41.11", 18287, "41.11", 18287), ("34.86", 9054, "31.53", 10000), ("35.47", 7429, "31.49", 8358)),
    *(("30.11", 4564, "24.72", 5549), ("31.25", 4399, "25.84", 5311), ("32.77", 4197, "27.48", 4996)),
    *(("33.63", 4091, "29.09", 4721), ("34.49", 3990, "30.67", 4482), ("35.33", 3896, "32.20", 4271)),
    *(("36.64", 3759, "34.51", 3988), ("37.87", 3638, "36.64", 3759)),
)
"""The same: Aluminum Company of America, sag and tension data, appendix G4; found when the program was written."""


def rows_of(*loaded, **at):
    """Loaded conditions, then bare ones; at: F -> what is said of it."""
    bare = [{"temperature [F]": f} | at.get(f"f{f}".replace("-", "_"), {}) for f in BARE]
    return [*loaded, *bare]


def assert_is(line, published, tension, sag):
    """Within a share of the tensions and so many feet."""
    assert len(line.rows) == len(published)
    for row, (final_sag, final, initial_sag, initial) in zip(line.rows, published, strict=True):
        for state, feet, pounds in ((row.initial, initial_sag, initial), (row.final, final_sag, final)):
            assert average(state.h, state.shape) / POUND == pytest.approx(pounds, rel=tension)
            assert state.shape.sag / FOOT == pytest.approx(float(feet), abs=sag)
            assert abs(state.residual) < 1e-9


def test_table_14_5():
    """Tolerances: reached are 0.13 % and 0.026 ft, where the wires are slack at last, else 0.02 % and 0.01 ft."""
    loaded = {"temperature [F]": 0, **HEAVY}, {"temperature [F]": 32, "ice [in]": 0.5}
    line = fem.sag_tension(rows_of(*loaded, f60={AT: 6300, "creep": "yes"}), section="drake", spans=[700 * FOOT])
    assert_is(line, TABLE_14_5, 4e-3, 0.03)
    assert line.is_creep_larger and line.governing == "initial average tension limit at condition 6"
    weights = [row.initial.load.resultant / 14.593903 for row in line.rows[:3]]
    assert weights == pytest.approx([2.509, 2.094, 1.094], abs=1e-3)
    knee = line.knee() * 1.8 + 32
    assert 120 < knee < 167  # the final sag grows by 0.052 ft a degree up to 120 F, by 0.024 from 167 on
    slopes = [line.state((f - 32) / 1.8, True).shape.sag for f in (knee - 11, knee - 1, knee + 1, knee + 11)]
    assert slopes[1] - slopes[0] > 1.8 * (slopes[3] - slopes[2])


def test_appendix_g4():
    """Reached: 0.08 % and 0.03 ft. A heavier load than that of the design: creep is not a factor."""
    loaded = {"temperature [F]": 0, "ice [in]": 1.5}, {"temperature [F]": 0, **HEAVY, AT: 10000}
    line = fem.sag_tension(
        rows_of(*loaded, {"temperature [F]": 32, "ice [in]": 0.5}, f60={"creep": "yes"}),
        section="drake",
        spans=[1000 * FOOT],
    )
    assert_is(line, APPENDIX_G4, 2e-3, 0.04)
    assert not line.is_creep_larger and line.load == "condition 1"


def test_districts_are_their_numbers():
    (heavy,) = fem.sag_tension(
        [{"district": "NESC heavy", "tension limit [% RTS]": 50}], section="drake", spans=[200]
    ).rows
    given = {"temperature [F]": 0, **HEAVY, "tension limit [lb]": 15750}
    (same,) = fem.sag_tension([given], section="drake", spans=[200]).rows
    assert heavy.initial.h == pytest.approx(same.initial.h, rel=2e-4)
    assert largest(heavy.initial.shape) == pytest.approx(
        0.5 * 31500 * POUND, rel=2e-4
    )  # RTS in the catalogue: 140.1 kN
    (csa,) = fem.sag_tension([{"district": "CSA heavy", "tension limit [kN]": 60}], section="drake", spans=[200]).rows
    mm = {"temperature [C]": -20, "ice [mm]": 12.5, "ice density [kg/m3]": 900, "wind [Pa]": 400}
    (own,) = fem.sag_tension([mm | {"tension limit [N]": 60e3}], section="drake", spans=[200]).rows
    assert csa.final.h == pytest.approx(own.final.h, rel=1e-12)


METRIC = {"HEAVY": (-20, 12.5, 190), "MEDIUM": (-10, 6.5, 190), "LIGHT": (-1, 0, 430)}
"""C, mm, Pa: the metric values that table 250-1 of NESC prints beside its own, rounded."""


@pytest.mark.parametrize("name", METRIC)
def test_districts_of_nesc_are_those_of_its_metric_values(name):
    """Rounding: 2.5 degrees, 0.25 mm, 2 Pa."""
    celsius, ice, wind = METRIC[name]
    cases = [{"district": f"NESC {name}"}, {"temperature [C]": 15, "tension limit [kN]": 25}]
    found = fem.sag_tension(cases, section="drake", spans=[200]).rows[0].condition
    assert found.temperature == pytest.approx(celsius, abs=2.5)
    assert found.ice == pytest.approx(1e-3 * ice, abs=2.5e-4) and found.wind == pytest.approx(wind, abs=2.0)


def test_the_governing_limit_is_kept_exactly_and_all_others_too():
    cases = [
        {"name": "storm", "temperature [C]": -5, "ice [mm]": 20, "wind [Pa]": 300, "tension limit [% RTS]": 60},
        {"name": "cold", "temperature [C]": -20, "tension limit [% RTS]": 33.3},
        {"name": "every day", "temperature [C]": 15, "tension limit [% RTS]": 18, "state": "final", "creep": "yes"},
        {"name": "hot", "temperature [C]": 80, "sag limit [m]": 14, "state": "final"},
    ]
    line = fem.sag_tension(cases, section="drake", first=(0, 0, 20), last=(300, 0, 28))
    strength = line.section.strength
    shares = [
        largest(line.rows[0].initial.shape),
        largest(line.rows[1].initial.shape),
        largest(line.rows[2].final.shape),
    ]
    limits = [0.6 * strength, 0.333 * strength, 0.18 * strength]
    ratios = [have / most for have, most in zip(shares, limits, strict=True)]
    assert max(ratios) == pytest.approx(1.0, rel=1e-9) and line.rows[3].final.shape.sag < 14
    names = ("initial tension limit at storm", "initial tension limit at cold", "final tension limit at every day")
    assert line.governing == names[ratios.index(max(ratios))]
    with pytest.raises(
        CommandError, match=r"contradict each other: with the .* tension limit .* the final sag limit at hot"
    ):
        fem.sag_tension(
            [*cases[:3], cases[3] | {"sag limit [m]": 7}], section="drake", first=(0, 0, 20), last=(300, 0, 28)
        )


def test_a_clearance_is_that_of_the_lowest_point():
    case = {"temperature [C]": 75, "clearance limit [m]": 9, "state": "final"}
    line = fem.sag_tension([case], section="drake", first=(0, 0, 20), last=(300, 0, 28))
    state = line.rows[0].final
    assert 20 - state.shape.lowest == pytest.approx(9, abs=1e-7)
    level = fem.sag_tension([case], section="drake", first=(0, 0, 20), last=(300, 0, 20)).rows[0].final
    assert level.shape.sag == pytest.approx(11, abs=1e-7)


def test_spans_of_a_section_hang_by_the_tension_of_their_ruling_span():
    line = fem.sag_tension([{"temperature [C]": 15, "tension limit [kN]": 28}], section="drake", spans=[250, 300, 350])
    head, *table = line.stringing([0, 20, 40])
    assert head == ["temperature [C]", "H [N]", *(f"sag of {span} m [m]" for span in (250, 300, 350))]
    for temperature, h, *sags in table:
        assert h == pytest.approx(line.state(temperature).h)
        parabolas = [1.628 * 9.80665 * span**2 / (8 * h) for span in (250, 300, 350)]
        assert sags == pytest.approx(parabolas, rel=2e-3)
    assert table[0][1] > table[1][1] > table[2][1]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            {"temperature": 15},
            r"condition 1: column 'temperature' needs its unit in brackets, one of C, F: temperature \[...\]",
        ),
        ({"temperature [K]": 15}, "needs its unit in brackets"),
        ({"temprature [C]": 15}, "there is no column temprature"),
        ({"temperature [C]": "warm"}, r"column temperature \[C\]: 'warm' is not a number"),
        ({"temperature [C]": "nan"}, "is not a finite number"),
        ({"temperature [C]": 15, "ice [mm]": -1}, r"column ice \[mm\]: a number of at least 0, got -1"),
        ({"temperature [C]": 15, "sag limit [m]": 0}, "a number above 0, got 0"),
        ({"ice [mm]": 5}, "condition 1: no temperature"),
        ({"district": "NESC arctic"}, "there is no district NESC arctic"),
        ({"district": "EN 50341"}, "EN 50341 has no loads of its own; its loads are those of a map or of a national"),
        ({"district": "NESC heavy", "ice [in]": 1}, "NESC heavy has its own ice: leave those cells empty"),
        ({"temperature [C]": 15, "state": "later"}, "state 'later' is not one of initial, final"),
        ({"temperature [C]": 15, "creep": "maybe"}, "creep 'maybe' is not yes or no"),
        ({"temperature [C]": 15, "temperature [F]": 59}, "column temperature is given twice"),
        ({"temperature [C]": 15}, "no limit determines the stringing"),
        ({"temperature [C]": 15, "clearance limit [m]": 9}, "a clearance needs the heights of the ends"),
        (
            {"temperature [C]": 15, "tension limit [kN]": 1e4},
            "the conductor cannot carry its tension limit",
        ),
        ({"temperature [C]": 15, "tension limit [kN]": 1}, "no tension gives its tension limit"),
    ],
)
def test_what_cannot_be_is_refused(case, message):
    with pytest.raises(CommandError, match=message):
        fem.sag_tension([case], section="drake", spans=[300])


def test_a_row_may_have_two_limits_and_one_row_creep():
    case = {"temperature [C]": 15, "tension limit [kN]": 25, "tension limit [% RTS]": 20, "creep": "yes"}
    (row,) = fem.sag_tension([case], section="drake", spans=[300]).rows
    assert largest(row.initial.shape) == pytest.approx(25e3)  # 20 % are 28 kN
    with pytest.raises(CommandError, match="condition 2: creep is yes twice"):
        fem.sag_tension([case, case], section="drake", spans=[300])


def test_conductors_without_numbers_are_refused():
    case = [{"temperature [C]": 15, "tension limit [% RTS]": 20}]
    with pytest.raises(CommandError, match="wire-30 has no curves of a core and wires in the catalogue; dove, drake"):
        fem.sag_tension(case, section="wire-30", spans=[300])
    with pytest.raises(CommandError, match="the strength of dove is not known: give a force"):
        fem.sag_tension(case, section="dove", spans=[300])
    for ends in ({}, {"spans": [300], "last": (1, 0, 0)}, {"first": (0, 0, 0), "last": (0, 0, 9)}, {"spans": [-1]}):
        with pytest.raises(CommandError, match=r"spans|vertically above"):
            fem.sag_tension(case, section="drake", **ends)


CASES = """name, temperature [F], ice [in], wind [psf], K [lb/ft], average tension limit [lb], creep
NESC heavy, 0, .5, 4, .3,,
ice, 32, .5,,,,
every day, 60,,,, 6300, yes
hot, 212,,,,,
"""


@pytest.mark.long
def test_the_command_writes_tables_and_the_figure(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cases.csv").write_text(CASES)
    words = "line --section drake --sag-tension cases.csv --spans 700ft --stringing 0:120:5"
    assert main(words.split()) == 0
    said = capsys.readouterr().out
    assert "drake, span 700 ft, strung by the initial average tension limit at every day" in said
    assert "the wires carry no load above 134 F" in said and "ten years of creep" in said
    with Path("sag_tension.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:5] == ["name", "temperature [F]", "ice [in]", "wind [psf]", "K [lb/ft]"]
    row = dict(zip(head, rows[0], strict=True))
    assert float(row["final sag [ft]"]) == pytest.approx(13.61, abs=0.03)
    assert float(row["initial average [lb]"]) == pytest.approx(11361, rel=1e-3)
    assert float(row["swing [degrees]"]) == pytest.approx(18.55, abs=0.02)  # atan(0.7027 / 2.094)
    lines = Path("sag_tension_stringing.csv").read_text().splitlines()
    assert len(lines) == 6 and lines[3].startswith("60.0,")
    assert Path("sag_tension.png").read_bytes().startswith(b"\x89PNG")
    assert main([*words.split(), "--report", "page.html"]) == 0  # the same again, with a page
    page = Path("page.html").read_text()
    for text in (
        "Sag and tension of drake",
        "NESC heavy",
        "ten years of creep",
        "<svg",
        "Alcoa chart 1-537",
        f"{float(rows[0][7]):.4g}",
    ):
        assert text in page
    Path("page.html").write_text("mine")
    assert main([*words.split(), "--report", "page.html"]) == 2
    assert "page.html" in capsys.readouterr().err
    for wrong, message in (
        ("--section drake --sag-tension cases.csv --spans 700ft --depth 9", "--sag-tension does not accept --depth"),
        ("--section drake --sag-tension cases.csv --spans 700yd", "is not a positive number"),
        ("--section drake --sag 9 --last 9,0,0 --spans 700", "--spans belongs to --sag-tension"),
        ("--section drake --sag 9 --last 9,0,0 --report a.html", "--report belongs to --sag-tension"),
        ("--sag-tension cases.csv --spans 700ft", "--sag-tension needs --section NAME"),
        ("--section drake --sag 9", "--last X,Y,Z must give the end of the line"),
    ):
        try:
            code = main(["line", *wrong.split()])
        except SystemExit as end:
            code = end.code
        assert code == 2 and message in capsys.readouterr().err
    Path("cases.csv").write_text(CASES.replace("32, .5", "32, thick"))
    assert main(words.split()) == 2
    assert "cases.csv:3: column ice [in]: 'thick' is not a number" in capsys.readouterr().err


def test_a_thousand_rows_take_less_than_five_seconds():
    """Of a processor; each with two states that are solved and verified."""
    cases = [{"temperature [C]": -20 + 0.1 * row, "ice [mm]": row % 7} for row in range(1000)]
    cases[0] |= {"tension limit [% RTS]": 25, "state": "final"}
    begun = time.process_time()
    line = fem.sag_tension(cases, section="drake", spans=[300])
    assert time.process_time() - begun < 5.0
    assert len(line.rows) == 1000 and largest(line.rows[0].final.shape) == pytest.approx(0.25 * line.section.strength)


CONSTANTS = {"NESC HEAVY": 0.30, "NESC MEDIUM": 0.20, "NESC LIGHT": 0.05}
"""K [lb/ft]: as Douglass & Thrash reprint table 251-1 (see ``fem/lines/sagging.py``)."""
CSA = {"SEVERE": (19.0, 400.0), "HEAVY": (12.5, 400.0), "MEDIUM A": (6.5, 400.0), "MEDIUM B": (12.5, 300.0)}
"""Ice [mm], wind [Pa] of CSA C22.3 No. 1, deterministic loads; all at -20 C."""


def test_districts_have_the_loads_of_their_tables():
    string = {"temperature [C]": 15, "tension limit [kN]": 20}
    cases = [{"district": name} for name in (*CONSTANTS, *(f"CSA {name}" for name in CSA))]
    found = {
        row.condition.name: row.condition
        for row in fem.sag_tension([*cases, string], section="drake", spans=[150]).rows
    }
    for name, k in CONSTANTS.items():
        assert found[name].extra == pytest.approx(k * POUND / FOOT, rel=1e-6)
    for name, (ice, wind) in CSA.items():
        its = found[f"CSA {name}"]
        assert (1e3 * its.ice, its.wind, its.temperature, its.extra) == pytest.approx((ice, wind, -20.0, 0.0))


def test_the_largest_tension_of_all_makes_the_final_state():
    """In a short span cold pulls more than ice: the wires have been stretched by it. The last column but one is the
    greater end tension of both states over the strength."""
    cases = [
        {"name": "ice", "temperature [C]": 30, "ice [mm]": 4},
        {"name": "cold", "temperature [C]": -45},
        {"name": "every day", "temperature [C]": 15, "tension limit [% RTS]": 20},
    ]
    line = fem.sag_tension(cases, section="drake", spans=[60])
    pulls = [row.initial.shape.mean for row in line.rows]
    weights = [row.initial.load.resultant for row in line.rows]
    assert weights[0] == max(weights) and pulls[1] == max(pulls) and line.load == "cold"
    head, *table = line.table()
    for row, cells in zip(line.rows, table, strict=True):
        most = max(largest(row.initial.shape), largest(row.final.shape))
        assert cells[head.index("tension [% RTS]")] == pytest.approx(100.0 * most / line.section.strength, rel=1e-12)
    assert any(largest(row.initial.shape) > largest(row.final.shape) * (1.0 + 1e-6) for row in line.rows)


def test_ice_of_nesc_weighs_57_pounds_per_cubic_foot():
    """913 kg/m3 without a density of its own; 1 lb = 0.45359237 kg."""
    case = {"temperature [F]": 0, "ice [in]": 1, "tension limit [lb]": 9000}
    given = [case | {"ice density [lb/ft3]": 57}, case]
    found = [fem.sag_tension([each], section="drake", spans=[150]).rows[0].condition.ice_density for each in given]
    assert found == pytest.approx([57.0 * 0.45359237 / FOOT**3] * 2, rel=1e-4)


def test_the_harder_of_two_limits_of_sag_says_how_a_span_is_strung():
    """Without limits of tension the span is as slack as both allow: one is reached, the other is not exceeded."""
    limits = {15: 5.0, 75: 8.0}
    cases = [{"temperature [C]": at, "sag limit [m]": most} for at, most in limits.items()]
    line = fem.sag_tension(cases, section="drake", spans=[250])
    shares = [row.initial.shape.sag / most for row, most in zip(line.rows, limits.values(), strict=True)]
    assert max(shares) == pytest.approx(1.0, rel=1e-9) and min(shares) < 0.99


def test_a_table_in_us_units_repeats_the_temperatures_that_it_was_asked_for():
    line = fem.sag_tension(
        [{"temperature [F]": f, "tension limit [lb]": 6300} for f in (-20, 212)], section="drake", spans=[200]
    )
    head, *table = line.table()
    assert [row[head.index("temperature [F]")] for row in table] == pytest.approx([-20.0, 212.0])
