"""``fem report``: the page says what the files say, asks nothing of a network, and takes no text for code."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.runs.read import open_results
from fem.show import report, style
from fem.show.curves import energies, load_factor
from fem.show.page import Page, address, picture, rounded
from fem.show.shapes import shapes
from fem.show.style import panels
from tests.sweeping.swings import write_swing

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "inputs"
FIVE_MEGABYTES = 5_000_000
VOID = {"meta", "img", "link", "br", "hr", "input", "base", "source", "embed"}


class Reader(HTMLParser):
    """Tables by the section that they are in, what the page loads, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.section = self.cell = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        of = dict(attributes)
        self.loads += [
            of[name] or "" for name in ("src", "href", "xlink:href", "action", "data", "poster") if name in of
        ]
        if tag == "iframe":
            assert of["sandbox"] == "allow-scripts"
            self.loads += Reader(of["srcdoc"]).loads
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("h2", "td", "th"):
            self.cell = ""
        if tag == "tr":
            self.tables.setdefault(self.section, []).append([])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        opened = self._open.pop()
        while opened != tag and opened in ("option", "li", "p", "html", "form", "style"):  # HTML closes these by itself
            opened = self._open.pop()
        assert opened == tag
        if tag == "h2":
            self.section = self.cell.strip()
        if tag in ("td", "th"):
            self.tables[self.section][-1].append(self.cell.strip())

    def handle_data(self, data):
        self.cell += data


def read(path: Path) -> Reader:
    """A report: small, and nothing in it asks for anything outside."""
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < FIVE_MEGABYTES
    page = Reader(text)
    assert all(load.startswith(("#", "data:image/png;base64,")) for load in page.loads), page.loads
    # Addresses are names of XML's languages, or texts of the deck; styles load nothing either.
    assert not re.search(r"@import|url\((?!#)", text)
    assert "default-src 'none'" in text
    return page


def row(page: Reader, section: str, name: str) -> list[str]:
    (found,) = [cells for cells in page.tables[section] if cells and cells[0] == name]
    return found[1:]


@pytest.fixture(autouse=True)
def few_figures(request, monkeypatch):
    """One figure and a short film are as good as all, which the long test draws."""
    if request.node.name != "test_a_run_is_told_whole[all]":
        monkeypatch.setattr("fem.show.report.WHAT", {"energy": (energies,)})
        monkeypatch.setattr("fem.show.report.FRAMES", 3)


@pytest.fixture(scope="module")
def sdnl100(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "sdnl100"
    return fem.run(INPUTS / "sdnl100.inp", output=folder), folder


@pytest.mark.long_cases("one")
@pytest.mark.parametrize("figures", ["one", pytest.param("all", marks=pytest.mark.long)])
def test_a_run_is_told_whole(sdnl100, figures):
    history, folder = sdnl100
    page, text = read(fem.report(folder)), (folder / "report.html").read_text()
    assert row(page, "Summary", "increments") == ["40"] and row(page, "Summary", "iterations") == ["274"]
    size, exchanged = np.abs(history.energy_error).max(), np.abs(history.energy[:, :4] - history.energy[0, :4]).max()
    assert exchanged == pytest.approx(4.905, rel=0.01)  # m g L/2, of which the last instant before level lacks nothing
    told = f"{size:.3g} J, {100 * size / exchanged:.2g} % of the energy exchanged"
    assert row(page, "Summary", "energy error") == [told] == [history.energy_error_text]
    kinetic = history.of_energy("kinetic")
    told = [kinetic[0], kinetic[-1], kinetic.min(), history.time[kinetic.argmin()], kinetic.max()]
    assert row(page, "Energy balance", "kinetic [J]") == [f"{x:.4g}" for x in (*told, history.time[kinetic.argmax()])]
    u, t = history.of_node(2)[:, 0], history.of_element(1, "T")
    at = history.time[u.argmin()], history.time[u.argmax()]
    assert row(page, "Extremes", "U1 [m]") == [
        f"{u.min():.4g}",
        "2 (TIP)",
        f"{at[0]:.4g}",
        f"{u.max() + 0:.4g}",
        "2 (TIP)",
        f"{at[1]:.4g}",
    ]
    assert row(page, "Extremes", "T [N]")[:3] == [f"{t.min():.4g}", "1", f"{history.time[t.argmin()]:.4g}"]
    assert "Verdict: completed" in text and "NEWMARK" in text
    assert (INPUTS / "sdnl100.inp").read_text().splitlines()[-8] in text
    left = "".join(re.findall(r"<h2>Figures left out</h2>\n<ul>(.*?)</ul>", text, re.DOTALL))
    assert bool(left) == (figures == "all")
    every = sum(map(len, report.WHAT.values()))
    assert (
        page.tags.count("figure") == every - left.count("<li>") + 1 and page.tags.count("iframe") == 1
    )  # and the model
    sections = {
        "Energy balance",
        *(
            name.capitalize()
            for name in report.WHAT
            if name not in ("energy", "curvature", "touchdown", "response", "modes", "buckling", "load_factor")
        ),
    }
    assert sections <= set(re.findall(r"<h2>(.*?)</h2>", text))


@pytest.mark.long
def test_the_first_page_says_who_when_with_what_and_how_far_from_breaking(sdnl100, tmp_path):
    history, folder = sdnl100
    given = {"title": "Bar & pin", "author": "A. <B>", "note": "Two\nlines", "date": "1 May"}
    path = fem.report(folder, tmp_path / "page.html", **given, strength={"": 40.0, "PENDULUM": 100.0})
    page, text = read(path), path.read_text()
    digest = json.loads((folder / "run.json").read_text())["deck"]["sha256"]
    block = [cells for cells in page.tables[""] if cells]
    assert block == [
        *(["author", "A. <B>"], ["date", "1 May"], ["program", f"fem {fem.__version__}"]),
        *(["deck", "sdnl100.inp"], ["SHA-256", digest]),
    ]
    assert "<h1>Bar &amp; pin</h1>" in text and "Two\nlines" in text
    t = history.of_element(1, "T")
    at = f"{history.time[t.argmax()]:.4g}"
    assert row(page, "Utilisation", "all bars") == [
        "40 N",
        f"T = {t.max():.4g} N",
        "1",
        at,
        f"{100 * t.max() / 40:.3g} %",
    ]
    assert row(page, "Utilisation", "PENDULUM")[-1] == f"{100 * t.max() / 100:.3g} %"
    headings = re.findall(r"<h2>(.*?)</h2>", text)
    assert headings[:3] == ["Summary", "Utilisation", "Extremes"]
    with pytest.raises(fem.CommandError, match="ROPE"):
        fem.report(folder, path, strength={"ROPE": 1.0})


@pytest.mark.long
def test_limits_of_the_deck_give_the_utilisation(tmp_path):
    """*FAILURE of tension: at a hundred times what the bar bears nothing breaks."""
    text = (INPUTS / "sdnl100.inp").read_text().replace("*STEP", "*FAILURE, TYPE=TENSION\n1, 4000.\n*STEP", 1)
    (tmp_path / "strong.inp").write_text(text)
    history = fem.run(tmp_path / "strong.inp", output=tmp_path / "out")
    page = read(fem.report(tmp_path / "out"))
    assert row(page, "Utilisation", "1")[-1] == f"{100 * history.of_element(1, 'T').max() / 4000:.3g} %"


@pytest.mark.long
def test_the_force_at_the_end_of_a_line_counts_where_it_is_printed(tmp_path):
    """T is the mean of a bar; its weight and inertia make the force on the support larger."""
    text = (INPUTS / "sdnl100.inp").read_text().replace("*EL PRINT", "*NODE PRINT, NSET=HELD\nTE\n*EL PRINT")
    (tmp_path / "ends.inp").write_text(text.replace("*STEP", "*NSET, NSET=HELD\n1\n*STEP", 1))
    history = fem.run(tmp_path / "ends.inp", output=tmp_path / "out")
    end, t = history.of_node(1, "TE"), history.of_element(1, "T")
    page = read(fem.report(tmp_path / "out", strength={"": 40.0}))
    assert end.max() > t.max() > 0.0
    told = row(page, "Utilisation", "all bars, ends")
    assert told[1:3] == [f"TE = {end.max():.4g} N", "node 1 (HELD)"] and told[-1] == f"{100 * end.max() / 40:.3g} %"


@pytest.mark.long
def test_tensions_that_are_not_printed_are_those_of_the_fields(tmp_path):
    text = (INPUTS / "sdnl100.inp").read_text()
    printed = text[text.index("*EL PRINT") : text.index("*END STEP")]
    (tmp_path / "bare.inp").write_text(text.replace(printed, ""))
    history = fem.run(tmp_path / "bare.inp", output=tmp_path / "out")
    page, t = read(fem.report(tmp_path / "out", strength={"": 80.0})), history.of_element(1, "T")
    assert row(page, "Extremes", "T [N]")[::3] == [f"{t.min():.4g}", f"{t.max():.4g}"]
    assert row(page, "Utilisation", "all bars")[-1] == f"{100 * t.max() / 80:.3g} %"


@pytest.mark.long
def test_equal_runs_give_equal_pages(sdnl100, tmp_path):
    _, folder = sdnl100
    one, other = (fem.report(folder, tmp_path / name).read_bytes() for name in ("one.html", "other.html"))
    assert one == other


@pytest.mark.long
def test_a_rope_tells_its_events(tmp_path):
    deck = INPUTS / "string_pendulum_rope.inp"
    history = fem.run(deck, output=tmp_path / "rope", parameters={"increments": 200})
    page = read(fem.report(tmp_path / "rope"))
    counts = {event.event: sum(other.event == event.event for other in history.events) for event in history.events}
    assert len(counts) > 1
    for name, count in counts.items():
        assert row(page, "Events", name) == [str(count)]


def test_modes_have_no_motion(tmp_path):
    modes = fem.run(INPUTS / "sdnl138.inp", output=tmp_path / "modes").modes[0]
    path = fem.report(tmp_path / "modes")
    page = read(path)
    frequencies = [cells[2] for cells in page.tables["Frequencies"][1:]]
    assert frequencies == [f"{value:.4g}" for value in modes.frequency[: len(frequencies)]]
    assert "iframe" not in page.tags and "no animation: the mesh is stored with the fields" in path.read_text()


@pytest.mark.long_cases("running")
@pytest.mark.parametrize("verdict", ["running", "energy drift"])
@pytest.mark.sampled(1)
def test_a_run_that_is_not_complete_says_so(sdnl100, tmp_path, verdict):
    folder = tmp_path / "deep" / "out"
    shutil.copytree(sdnl100[1], folder)
    record = json.loads((folder / "run.json").read_text()) | {"verdict": verdict}
    (folder / "run.json").write_text(json.dumps(record))
    text = fem.report(folder).read_text()
    assert f'class="verdict bad">Verdict: {verdict}' in text
    assert "The deck is no longer at" in text  # the record's way to it has moved


SCRIPT = "<script>alert(1)</script>"


@pytest.mark.long
def test_text_stays_text(tmp_path):
    """In headings, notices, names of steps and sets, file names and the deck."""
    deck = write_swing(tmp_path)
    deck = deck.rename(tmp_path / "a<b>&amp;.inp")
    deck.write_text(f"*HEADING\n{SCRIPT} \"quoted\" & 'so'\nSI {SCRIPT}\n** {SCRIPT}\n" + deck.read_text())
    fem.run(deck, output=tmp_path / "out")
    record = tmp_path / "out" / "run.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"notices": [SCRIPT], "versions": {SCRIPT: SCRIPT}}))
    path = fem.report(tmp_path / "out")
    page, text = read(path), path.read_text()
    assert SCRIPT not in text and text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 6
    assert "script" not in page.tags and "a&lt;b&gt;&amp;amp;.inp" in text
    fem.sweep(deck, {"length": [1.0, 2.0, 3.0]}, output=tmp_path / "many")
    assert SCRIPT not in fem.report(tmp_path / "many").read_text()


@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    """The pendulum of SDNL100 with a mass and a stiffness a million times as large, with error bars."""
    folder = tmp_path_factory.mktemp("heavy")
    text = (INPUTS / "sdnl100.inp").read_text().replace("STRAIN=GREEN", "STRAIN=GREEN", 1)
    text = re.sub(r"(\*SOLID SECTION[^\n]*\n)1\.", r"\g<1>1.e6", text)
    (folder / "heavy.inp").write_text(text)
    assert main(["run", str(folder / "heavy.inp"), "--error-bars", "--quiet", "--output", str(folder / "out")]) == 0
    return folder / "out"


@pytest.mark.long
def test_large_forces_are_told_in_meganewtons_with_the_bars_of_the_run(heavy):
    """T of the deck as it is times the area, which scales mass and stiffness alike; bars stand beside, not as rows."""
    page, record = read(fem.report(heavy, strength={"": 1e8})), json.loads((heavy / "run.json").read_text())
    limits = {each["name"]: each for each in record["error_bars"]["limits"]}
    t = fem.run(INPUTS / "sdnl100.inp").of_element(1, "T")
    (least, _, _, greatest, element, _) = row(page, "Extremes", "T [MN]")
    value, bar = (float(part) for part in greatest.split(" ± "))
    assert value == pytest.approx(t.max(), rel=0.05) and element == "1"
    assert bar == pytest.approx(limits["max:T_e1"]["bar"] / 1e6, rel=0.05)
    assert float(least.split(" ± ")[0]) == pytest.approx(t.min(), rel=0.1)
    assert not any(cells[0].endswith("_err") for cells in page.tables["Extremes"] if cells)
    head = page.tables["What limits the accuracy"][0]
    assert head[:3] == ["number", "value", "by increments"] and "own" not in head
    assert row(page, "What limits the accuracy", "max:T_e1")[0].endswith(" MN")
    assert row(page, "Utilisation", "all bars")[1].endswith(" MN")


def test_units_get_prefixes_where_numbers_are_large():
    assert style.prefixed("N", 1999.0) == (1.0, "N") and style.prefixed("N", -3e3) == (1e3, "kN")
    assert style.prefixed("N m", 3e7) == (1e6, "MN m") and style.prefixed("m", 1e9) == (1.0, "m")
    figure, ((panel,),) = style.panels(1, "forces")
    panel.plot([0.0, 1.0], [0.0, 4e5])
    panel.set(ylabel="T [N]", xlabel="time [s]")
    style.shorten_numbers(figure)
    assert panel.get_ylabel() == "T [kN]" and panel.get_xlabel() == "time [s]"
    assert panel.yaxis.get_major_formatter()(2e5, 0) == "200"
    style.shorten_numbers(figure)  # done already
    assert panel.get_ylabel() == "T [kN]" and panel.yaxis.get_major_formatter()(2e5, 0) == "200"


def test_runs_are_compared_on_one_page(tmp_path):
    deck = write_swing(tmp_path)
    folders = [tmp_path / name for name in ("short", "long")]
    histories = [
        fem.run(deck, output=folder, parameters={"length": length})
        for folder, length in zip(folders, (1.0, 2.0), strict=True)
    ]
    page = read(fem.report(folders, tmp_path / "both.html"))
    assert row(page, "What differs", "length") == ["1", "2"]
    rows = [cells for cells in page.tables["Extremes"] if cells[1:2] == ["U1"]]
    assert [cells[0] for cells in rows] == ["short", "long"]
    u = [history.of_node(2)[:, 0] for history in histories]
    assert [float(cells[2]) for cells in rows] == [pytest.approx(each.min(), rel=5e-4) for each in u]
    assert main(["report", *map(str, folders)]) == 2
    assert main(["report", str(folders[0]), "--compare"]) == 2
    assert main(["report", *map(str, folders), "--compare", "--output", str(tmp_path / "cli.html")]) == 0
    with pytest.raises(fem.CommandError, match="holds no run"):
        fem.report([folders[0], tmp_path])


PRINTER = """#!/bin/sh
for word; do case $word in --print-to-pdf=*) file=${word#--print-to-pdf=} ;; esac; done
printf '%s' '{content}' > "$file"
"""


@pytest.mark.long
def test_a_pdf_is_printed_by_a_browser_and_bears_the_mark(sdnl100, tmp_path, monkeypatch):
    """A program in its place writes what it is told; the file is the program's own, and goes with the results."""
    browser, path = tmp_path / "browser", tmp_path / "page.html"
    monkeypatch.setenv("FEM_BROWSER", str(browser))
    with pytest.raises(fem.CommandError, match="did not print"):
        fem.report(sdnl100[1], path, pdf=True)
    for content, is_good in (("no paper", False), ("%PDF-1.4 %%EOF", True), ("%PDF-1.4 %%EOF", True)):
        browser.write_text(PRINTER.replace("{content}", content))
        browser.chmod(0o755)
        if is_good:
            fem.report(sdnl100[1], path, pdf=True)
            assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF-1.4 %%EOF\n% made by fem")
        else:
            with pytest.raises(fem.CommandError, match="printed no PDF"):
                fem.report(sdnl100[1], path, pdf=True)
            assert not path.with_suffix(".pdf").exists()
    path.with_suffix(".pdf").write_text("mine")
    with pytest.raises(fem.CommandError, match=r"page\.pdf exists and was not written by fem"):
        fem.report(sdnl100[1], path, pdf=True)


def test_a_sweep(tmp_path):
    deck = write_swing(tmp_path)
    found = fem.sweep(deck, {"length": [1.0, 1.5, 0.0, 2.0], "gravity": [9.81, 5.0]}, output=tmp_path / "many")
    path = fem.report(tmp_path / "many")
    page, text = read(path), path.read_text()
    assert "8 of 8 parameter sets computed" in text and 'class="verdict bad"' in text  # a bar of no length
    head, *rows = page.tables["Table"]
    assert len(rows) == 8 and page.tags.count("figure") == 1
    for name, column in (("length", found["length"]), ("energy error largest", found["energy_error_largest"])):
        told = [cells[head.index(name)] for cells in rows]
        assert told == ["" if np.isnan(value) else f"{value:.4g}" for value in column]
    assert row(page, "Summary", "length") == ["4 values, 0 to 2"]


@pytest.mark.long
def test_exponents_and_sections(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deck = str(INPUTS / "string_pendulum_rigid.inp")
    assert main(["lyapunov", deck, "--time", "60", "--error", "none", "--output", "one", "--quiet"]) == 0
    page = read(fem.report("one"))
    last = Path("one/convergence.csv").read_text().splitlines()[-1].split(",")
    assert row(page, "Result", "1") == [f"{float(cell):.4g}" for cell in last[1:]] and "figure" in page.tags
    assert row(page, "Settings", "time") == ["60"]
    assert main(["sections", deck, "--cycles", "30", "--points", "10", "--output", "two", "--quiet"]) == 0
    assert "figure" in read(fem.report("two")).tags
    vary = ["--vary", "A=9:10:3", "--time", "20", "--error", "none", "--output", "many", "--quiet"]
    assert main(["lyapunov", deck, *vary]) == 0
    page = read(fem.report("many"))
    assert "exponent 1" in page.tables["Table"][0] and page.tags.count("figure") == 2


def test_a_validation(tmp_path):
    from fem.study.validation import validate

    assert validate(["axial_bar"], tmp_path) == 0
    page = read(fem.report(tmp_path))
    assert row(page, "Cases", "axial_bar")[2] == "0"
    (section,) = [name for name in page.tables if name.startswith("axial_bar: ")]
    lines = (tmp_path / "report.csv").read_text().splitlines()[1:]
    assert len(page.tables[section]) - 1 == len(lines) and page.tables[section][1][-2] == "ok"
    table = tmp_path / "report.csv"
    table.write_text(table.read_text().replace(",ok,", ",missed,", 1))
    assert "1 missed" in fem.report(tmp_path).read_text()


def test_figures_of_a_validation_are_those_of_the_case(tmp_path):
    """Of two cases, the name of one of which begins the other's; files that no record or report names are left out."""
    (tmp_path / "validation.json").write_text(json.dumps({"deck": {"file": "validation"}, "files": []}))
    head = "case,quantity,kind,target,computed,ratio,tolerance,verdict,source\n"
    line = ",a length,absolute,1.0,1.0000000001,1.0000000001,1e-9,ok,analytic\n"
    (tmp_path / "report.csv").write_text(f"{head}lines{line}lines_bottom{line}")
    for name in ("lines_a", "lines_bottom_a", "lines_mine"):
        (tmp_path / f"{name}.png").write_bytes(name.encode())
    sections = [f"## {case}: of {case}\n\n![a]({case}_a.png)\n" for case in ("lines", "lines_bottom")]
    (tmp_path / "report.md").write_text("# Validation\n\n" + "\n".join(sections))
    page = read(fem.report(tmp_path))
    assert row(page, "lines: of lines", "a length")[:2] == ["1", "1.0000000001"]
    told = [load for load in page.loads if load.startswith("data:")]
    assert told == [address(name) for name in (b"lines_a", b"lines_bottom_a")]


def test_tables_that_are_not_ours_are_refused(tmp_path):
    deck = write_swing(tmp_path)
    fem.sweep(deck, {"length": [1.0, 2.0]}, output=tmp_path / "many")
    (tmp_path / "many" / "mine.png").write_bytes(b"mine")
    assert not any(load.startswith("data:") for load in read(fem.report(tmp_path / "many")).loads)
    table = tmp_path / "many" / "sweep.csv"
    table.write_text(table.read_text().replace("completed,20", "completed,twenty"))
    with pytest.raises(fem.CommandError, match=r"sweep\.csv cannot be read as a table of fem"):
        fem.report(tmp_path / "many")


@pytest.mark.long
def test_in_a_browser_it_plays_and_asks_for_nothing(sdnl100, chromium):
    """Chromium loads the page alone, reports no error, and the film moves."""
    path, asked, said = fem.report(sdnl100[1]), [], []
    page = chromium.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    film = page.frame_locator("iframe")
    film.locator("#play").click()
    film.locator("#place").fill("1")
    assert film.locator("#count").text_content() == "2 / 3"
    page.close()
    assert [url for url in asked if not url.startswith(("data:", "about:"))] == [path.as_uri()] and not said


@pytest.mark.long
def test_chromium_prints_the_page(sdnl100, chromium, tmp_path):
    fem.report(sdnl100[1], tmp_path / "page.html", pdf=True)
    content = (tmp_path / "page.pdf").read_bytes()
    assert content.startswith(b"%PDF-") and len(content) > 10_000


@pytest.mark.long
def test_on_paper_there_are_frames_in_place_of_the_film(sdnl100, chromium, monkeypatch, tmp_path):
    monkeypatch.setattr("fem.show.report.WHAT", {"tension": (shapes,)})
    page = chromium.new_page()
    page.goto(fem.report(sdnl100[1], tmp_path / "page.html").as_uri())
    for media, is_film in (("screen", True), ("print", False)):
        page.emulate_media(media=media)
        motion = page.locator("section", has=page.locator("h2", has_text="Motion"))
        assert motion.locator("iframe").is_visible() == is_film and motion.locator("figure svg").is_visible()
    page.close()


@pytest.mark.long
def test_whose_file(sdnl100, tmp_path):
    _, folder = sdnl100
    mine = tmp_path / "mine.html"
    mine.write_text("my page")
    with pytest.raises(fem.CommandError, match="was not written by fem"):
        fem.report(folder, mine)
    assert mine.read_text() == "my page"
    fem.report(folder, mine, force=True)
    fem.report(folder, mine)  # now it is ours
    for wrong, words in (
        (tmp_path / "nowhere", "does not exist"),
        (mine, "is not a folder"),
        (tmp_path, "holds no results: there is none of run"),
    ):
        with pytest.raises(fem.CommandError, match=words):
            fem.report(wrong)
    (tmp_path / "sweep.json").write_text("[]")
    with pytest.raises(fem.CommandError, match="cannot be read as a record of fem"):
        fem.report(tmp_path)


@pytest.mark.long
def test_a_report_goes_when_its_results_do(tmp_path):
    """Of runs and of sweeps; one that somebody else wrote stays."""
    deck = write_swing(tmp_path)
    fem.run(deck, output=tmp_path / "out")
    fem.report(tmp_path / "out")
    fem.run(deck, output=tmp_path / "out", parameters={"length": 2.0})
    assert not (tmp_path / "out" / "report.html").exists()
    (tmp_path / "out" / "report.html").write_text("mine")
    fem.run(deck, output=tmp_path / "out")
    assert (tmp_path / "out" / "report.html").read_text() == "mine"
    fem.sweep(deck, {"length": [1.0, 2.0]}, output=tmp_path / "many")
    fem.report(tmp_path / "many")
    fem.sweep(deck, {"length": [1.0, 3.0]}, output=tmp_path / "many")
    assert not (tmp_path / "many" / "report.html").exists()


SHALLOW = """*HEADING
Two bars that snap through. SI units
*NODE, NSET=ALL
1, -1., 0., 0.
2, 0., 0., 0.2
3, 1., 0., 0.
*NSET, NSET=CROWN
2
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e5
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1e-2
*BOUNDARY
1, 1, 3
3, 1, 3
ALL, 2
*STEP, NLGEOM, INC=60
*STATIC, RIKS
0.02, 1., , 0.02, , CROWN, 3, -0.1
*CLOAD
CROWN, 3, -10.
{printed}*END STEP
"""


def test_arc_lengths_are_no_times_and_a_missing_load_factor_is_told_where_it_would_be(tmp_path, monkeypatch):
    """Of *STATIC, RIKS ``time`` is an arc length, which has no unit."""
    pages = []
    monkeypatch.setattr("fem.show.report.WHAT", {"energy": (energies,), "load_factor": (load_factor,)})
    for name, printed in (("told", "*NODE PRINT, NSET=CROWN\nU\n"), ("silent", "*EL PRINT\nT\n")):
        fem.run(fem.parse_deck(SHALLOW.format(printed=printed)), output=tmp_path / name)
        pages.append(fem.report(tmp_path / name).read_text())
    for text in pages:
        assert "arc length reached" in text and "time reached" not in text
        assert "at arc length" in text and "at time [s]" not in text
    figures = [text.partition("<h2>Load factor</h2>")[2].partition("</section>")[0] for text in pages]
    assert "<figure" in figures[0] and "request *NODE PRINT of U" not in figures[0]
    assert "<figure" not in figures[1] and "No figure: nodes.csv has no displacement" in figures[1]


def test_settings_are_told_in_words_of_the_field(sdnl100):
    text = fem.report(sdnl100[1]).read_text()
    part = text.partition("<h2>Settings as understood</h2>")[2].partition("<h2>Software</h2>")[0]
    assert re.search(r"iterations, at most \d+", part) and "strain measure" in part
    assert "time integrator NEWMARK" in part
    assert not re.search(r"young|poisson|is inextensible|cut factor|growth factor|mass rule", part)
    assert re.search(r"<th[^>]*>E</th>", part)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "0"), (-0.0, "0"), (1.28587, "1.286"), (12345.6, "12346"), (1.66395e6, "1663950"), (2.5e9, "2.5e+09"),
     (-4.852e-4, "-0.0004852")],
)  # fmt: skip
def test_numbers_have_four_digits_and_no_exponent_where_they_are_read_without(value, expected):
    assert rounded(value) == expected


def test_tall_figures_have_more_of_a_page(sdnl100):
    """Three panels one above the other are legible at 150 mm, two figures of two panels fit on a page at 90 mm."""
    assert [picture(panels(rows, "")[0]).is_tall for rows in (1, 2, 3, 4)] == [False, False, True, True]
    page = Page("", [], "", True, "")
    page.add("Figures", picture(panels(3, "")[0]), picture(panels(1, "")[0]))
    assert page.html().count('<figure class="tall">') == 1 and page.html().count("<figure>") == 1


def test_load_cases_of_si_decks_have_units(tmp_path):
    """The number's unit beside its name, its values in it; the heading is that of the deck, with its comments."""
    row = {"case": "storm", "number": "T_ROPE", "seeds": 4, "max": 32364.6, "extreme": 32396.3, "skewness": -2.0}
    told = dict(zip(row, report.case_line(row), strict=True))
    assert (told["number"], told["max"], told["extreme"]) == ("T_ROPE [kN]", 32364.6 / 1e3, 32396.3 / 1e3)
    assert (told["case"], told["seeds"], told["skewness"]) == ("storm", 4, -2.0)
    (tmp_path / "deck.inp").write_text("** first\n*Heading\nA rope\n** a comment\nSI units\n*NODE\n1, 0, 0, 0\n")
    record = {"deck": {"file": "deck.inp"}, "deck_folder": "."}
    assert report.heading_of(tmp_path, record) == ["A rope", "** a comment", "SI units"]
    assert report.heading_of(tmp_path / "gone", record) == []


def test_energies_of_the_page_are_those_of_the_run(tmp_path):
    """Of a mass that oscillates: start, end, and extremes with their times."""
    history = fem.run("inputs/sdnl100.inp", output=tmp_path / "out")
    table = report.energy_table(open_results(tmp_path / "out"))
    rows = {row[0].partition(" [")[0]: row[1:] for row in table.rows}
    for name in ("kinetic", "potential"):
        values, (head,) = history.of_energy(name), [key for key in rows if key.startswith(name.partition("_")[0])]
        start, end, least, at_least, most, at_most = (float(cell) for cell in rows[head])
        factor = np.ptp([start, end, least, most]) / np.ptp([values[0], values[-1], values.min(), values.max()])
        found = np.array([start, end, least, most]) / factor
        assert found == pytest.approx(
            [values[0], values[-1], values.min(), values.max()], abs=1e-4 * np.abs(values).max()
        )
        times = history.time[[values.argmin(), values.argmax()]]
        assert [at_least, at_most] == pytest.approx(times, abs=1e-3 * history.time[-1])
