"""What people do on the page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_for

pytestmark = pytest.mark.long
"""Chromium draws without a graphics card: half a minute of processor time."""

ROOT = Path(__file__).resolve().parents[3]


def set_short(tab, when="0.4"):
    """A run of a second."""
    tab.page.get_by_label("time", exact=True).first.fill(when)


def choose(tab, name, option):
    """An option of a field."""
    tab.of(name).click()
    tab.page.get_by_role("option", name=option).click()


def download(tab, press) -> Path:
    with tab.page.expect_download() as waiting:
        press()
    return Path(waiting.value.path())


def time_of(tab) -> float:
    return float(tab.page.locator("canvas").first.get_attribute("data-time") or 0.0)


def stands(tab) -> bool:
    """The player does, for a while."""
    before = time_of(tab)
    tab.page.wait_for_timeout(300)
    return time_of(tab) == before


def test_the_five_links_of_the_document(open_tab, tmp_path):
    """Form, run, player, charts; the deck that is taken away gives the same motion on the command line."""
    tab = open_tab()
    tab.page.get_by_label("number of links").fill("5")
    for quantity, value in (("length", "1"), ("mass", "1"), ("angle", "30")):
        tab.of(f"all-{quantity}").fill(value)
    tab.until(lambda: tab.of("angle-5").input_value() == "30")
    set_short(tab)
    tab.of("run").click()
    tab.ends("completed")
    tab.until(lambda: tab.page.locator("canvas[data-time]").count() == 1)
    tab.until(lambda: is_in_view(tab, ".fem-outcome .fem-player canvas"))
    before = time_of(tab)
    tab.until(lambda: time_of(tab) != before)
    tab.page.get_by_role("button", name="Pause").click()
    tab.until(lambda: stands(tab))
    tab.page.locator(".fem-place").first.fill("0.25")
    tab.until(lambda: time_of(tab) == pytest.approx(0.25))
    for group, charts in (("Energies", 1), ("Reactions", 3), ("Angles", 3), ("Links", 6), ("Joint forces", 4)):
        tab.page.get_by_role("tab", name=group).click()
        tab.until(lambda count=charts: tab.page.locator(".fem-chart canvas").count() == count)
    curves = tab.page.evaluate(
        "() => getElement(Number(document.querySelector('.fem-chart').id.slice(1))).chart.getOption().series.length"
    )
    assert curves == 6  # five links, and the line of the present time
    deck = download(tab, lambda: tab.page.get_by_role("button", name="Deck").click())
    copy = tmp_path / "copy.inp"
    copy.write_bytes(deck.read_bytes())
    command = [sys.executable, "-m", "fem", "run", str(copy), "--output", str(tmp_path / "own"), "--quiet"]
    subprocess.run(command, check=True, cwd=tmp_path)

    def ask():
        tab.page.get_by_role("button", name="Tables (CSV)").click()
        tab.page.get_by_text("nodes.csv", exact=True).click()

    assert download(tab, ask).read_bytes() == (tmp_path / "own" / "nodes.csv").read_bytes()


def test_a_joint_is_dragged(open_tab):
    tab = open_tab()
    tab.page.get_by_role("button", name="Double pendulum").click()
    joint = tab.page.locator("#joint-1")
    tab.until(lambda: tab.page.locator(".fem-joint").count() == 2)
    box, drawing = joint.bounding_box(), tab.of("drawing").bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.page.mouse.down()
    middle = drawing["x"] + drawing["width"] / 2, drawing["y"] + drawing["height"] / 2
    tab.page.mouse.move(middle[0] + 120, middle[1], steps=8)
    tab.until(lambda: tab.of("angle-1").input_value() == "90")
    tab.page.mouse.up()
    tab.page.mouse.move(middle[0], middle[1] + 50, steps=3)
    tab.page.wait_for_timeout(150)
    assert tab.of("angle-1").input_value() == "90"  # let go


def test_bad_input_is_refused_in_words(open_tab):
    tab = open_tab()
    run, wrong = tab.of("run"), tab.of("wrong")

    links = tab.page.get_by_label("number of links")
    for text, said in (("0", "got 0"), ("1000000", "got 1000000"), ("-3", "got -3"), ("2.5", "whole number, got 2.5"),
                       ("many", "unknown name 'many'"), ("", "missing")):  # fmt: skip
        links.fill(text)
        tab.until(lambda said=said: re.search(f"number of links: .*{said}$", wrong.inner_text()) and run.is_disabled())
    links.fill("2")
    tab.until(lambda: run.is_enabled() and tab.of("length-3").count() == 0)
    for cell, text, said in (
        ("length-2", "-1", "a positive number"),
        ("mass-1", "one", "not a number"),
        ("angle-1", "1e999", "too large"),
    ):
        before = tab.of(cell).input_value()
        tab.of(cell).fill(text)
        tab.until(lambda said=said: said in wrong.inner_text() and run.is_disabled())
        tab.of(cell).fill(before)
        tab.until(lambda: not wrong.inner_text() and run.is_enabled())
    tab.of("angle-1").fill("pi/3")
    tab.page.get_by_label("damping").fill("0,5")
    tab.until(lambda: "Damping is drag" in tab.of("integrator-help").inner_text() and run.is_enabled())
    tab.page.get_by_label("increment dt").first.fill("1e-9")
    tab.until(lambda: "increments: at most" in wrong.inner_text())


def test_a_deck_is_edited_to_an_error_and_back(open_tab):
    tab = open_tab()
    tab.page.get_by_role("tab", name="Deck").click()
    findings, run = tab.of("findings"), tab.of("run-deck")
    tab.of("deck").fill(str(ROOT / "inputs" / "sdnl100.inp"))
    tab.of("open-deck").click()
    tab.until(lambda: tab.page.locator(".cm-line", has_text="SDNL100").count() > 0 and run.is_enabled())
    tab.page.locator(".cm-line", has_text="*NODE").first.click()
    tab.page.keyboard.press("End")
    tab.page.keyboard.type("X")
    tab.until(lambda: "line 13" in findings.inner_text() and run.is_disabled())
    assert tab.page.locator(".fem-bad-line").first.inner_text() == "*NODEX"
    tab.page.keyboard.press("Backspace")
    tab.until(lambda: run.is_enabled() and tab.page.locator(".fem-bad-line").count() == 0)
    run.click()
    tab.ends("completed")


def test_a_parameter_changes_the_text(open_tab):
    tab = open_tab()
    tab.page.get_by_role("tab", name="Deck").click()
    tab.of("parameter-pull").fill("7.5")
    tab.until(lambda: tab.page.locator(".cm-line", has_text="pull = 7.5").count() == 1)


def test_a_line_follows_its_numbers(open_tab):
    tab = open_tab()
    tab.page.get_by_role("tab", name="Line").click()
    said, wrong = tab.of("line-numbers"), tab.of("line-wrong")
    tab.until(lambda: "natural length 850" in said.inner_text())
    value = tab.page.get_by_label("value", exact=True)
    value.fill("860")
    tab.until(lambda: "natural length 860" in said.inner_text())
    value.fill("-2")
    tab.until(lambda: "a positive number" in wrong.inner_text() and tab.of("run-line").is_disabled())


def solvers_of(app) -> list[int]:
    """Processes of the page's runs that have not ended, in the order in which they were started."""
    listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(app.process.pid)], capture_output=True, text=True)
    return sorted(
        int(line.split()[0]) for line in listed.stdout.splitlines() if " run " in line and "defunct" not in line
    )


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_stop_kill_and_two_tabs(open_tab, app):
    """Two runs, each held by a signal once it has begun: on a busy machine it would end before the page is looked at.
    One is stopped; the solver of the other is killed, and it runs anew."""
    one, other = open_tab(), open_tab()
    one.page.get_by_role("button", name="Chain of 20").click()
    one.until(lambda: one.of("angle-20").count() == 1)  # what else it sets comes with that
    held = []
    for tab in (one, other):
        set_short(tab, "900")
        tab.page.get_by_label("increment dt").first.fill("0.001")
        tab.until(lambda tab=tab: tab.of("run").is_enabled())
        tab.of("run").click()
        tab.until(lambda tab=tab: "increment" in tab.of("progress").inner_text())
        held += [number for number in solvers_of(app) if number not in held]
        os.kill(held[-1], signal.SIGSTOP)
    assert (one.of("angle-1").input_value(), other.of("angle-1").input_value()) == ("60", "30")
    assert one.of("angle-20").count() == 1 and other.of("angle-6").count() == 0
    for when in ("x", "800"):  # what is typed while it runs does not offer another run
        set_short(one, when)
        one.until(lambda when=when: ("number" in one.of("wrong").inner_text()) == (when == "x"))
    assert not one.of("run").is_enabled()
    one.of("stop").click()
    one.ends("stopping")
    os.kill(held[0], signal.SIGCONT)
    one.ends("interrupted")
    assert other.of("verdict").inner_text() == "running"
    tables = download(one, lambda: (one.page.get_by_role("button", name="Tables (CSV)").click(),
                                    one.page.get_by_text("increments.csv").click()))  # fmt: skip
    assert tables.read_bytes().endswith(b"\n")
    assert solvers_of(app) == held[1:]
    os.kill(held[1], signal.SIGKILL)
    other.ends("killed")
    assert "SIGKILL" in other.of("failure").inner_text()
    set_short(other, "0.1")
    other.until(lambda: other.of("run").is_enabled())
    other.of("run").click()
    other.ends("completed")


def test_a_folder_of_results_that_grows(serve, open_tab, tmp_path):
    """Of a run that another process makes: it is followed to its end; closing the page stops nothing."""
    deck = tmp_path / "swing.inp"
    command = [sys.executable, "-m", "fem", "pendulum", "--links", "2", "--time", "30", "--output", str(deck)]
    subprocess.run(command, check=True, capture_output=True)
    run = [sys.executable, "-m", "fem", "run", str(deck), "--output", str(tmp_path / "grows"), "--quiet"]
    with subprocess.Popen(run) as solver:
        wait_for((tmp_path / "grows" / "increments.csv").exists)
        started = serve(tmp_path, str(tmp_path / "grows"))
        try:
            tab = open_tab(started.url)
            tab.until(lambda: "increment" in tab.of("progress").inner_text())
            tab.ends("completed")
            tab.until(lambda: tab.page.locator("canvas[data-time]").count() >= 1)
        finally:
            assert started.end() in (0, 143, -15)
        assert solver.wait() == 0


def test_displacements_are_magnified(serve, open_tab, tmp_path):
    """A stretched bar looks stiff until they are; at 1 the picture is what it was."""
    deck = Path(__file__).resolve().parents[3] / "inputs" / "sdnl100.inp"
    run = [sys.executable, "-m", "fem", "run", str(deck), "--output", str(tmp_path / "run"), "--quiet"]
    subprocess.run(run, check=True)
    started = serve(tmp_path, str(tmp_path / "run"))
    try:
        tab = open_tab(started.url)
        tab.until(lambda: tab.page.locator("canvas[data-time]").count() == 1)
        tab.page.locator(".fem-place").first.fill("0.4")  # pauses
        pictures = []
        for scale in ("1", "50", "1"):
            tab.page.locator(".fem-scale").first.select_option(scale)
            tab.page.wait_for_timeout(150)
            pictures.append(tab.page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()"))
            tab.page.screenshot(path=str(tmp_path / f"scale_{scale}.png"))
        assert pictures[0] == pictures[2] != pictures[1]
    finally:
        started.end()


def test_an_empty_folder_is_refused(open_tab, tmp_path):
    tab = open_tab()
    tab.page.get_by_role("tab", name="Results").click()
    for name in (str(tmp_path), str(tmp_path / "none"), ""):
        tab.of("folder").fill(name)
        tab.of("open").click()
        tab.until(lambda: tab.of("folder-wrong").inner_text() != "")


def test_two_runs_from_nearly_the_same_start(open_tab):
    tab = open_tab()
    tab.page.get_by_role("button", name="Double pendulum").click()
    choose(tab, "runs", "two runs from nearly the same start")
    set_short(tab, "1")
    tab.of("run").click()
    tab.ends("completed")
    tab.until(lambda: tab.of("remarks").inner_text().startswith("distance of the two runs"))
    assert tab.page.get_by_role("tab", name="Distance").count() == 1


def is_in_view(tab, selector) -> bool:
    """All of it, below the head of the page."""
    box = tab.page.locator(selector).first.bounding_box()
    head = tab.page.locator(".fem-header").bounding_box()
    return head["height"] <= box["y"] and box["y"] + box["height"] <= tab.page.viewport_size["height"]


@pytest.mark.parametrize("look", ["light", "dark"])
def test_it_fits_a_phone(open_tab, look):
    """Nothing is wider than the screen."""
    tab = open_tab(viewport={"width": 390, "height": 844}, color_scheme=look)
    for text in ("Equations of motion", "Lyapunov exponent"):
        tab.page.get_by_text(text).first.click()
    set_short(tab, "0.05")
    tab.of("run").click()
    tab.ends("completed")
    tab.until(lambda: tab.page.locator(".fem-chart canvas").count() == 1)
    tab.until(lambda: is_in_view(tab, ".fem-outcome .fem-player canvas"))
    for place in ("Pendulum", "Line", "Deck", "Results"):
        tab.page.get_by_role("tab", name=place).click()
        tab.page.wait_for_timeout(150)
        assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert tab.page.get_by_role("button", name="theme: light or dark").count() == 1
    assert ("body--dark" in tab.page.locator("body").get_attribute("class")) == (look == "dark")


@pytest.mark.parametrize("look", ["light", "dark"])
def test_everything_has_a_name_and_can_be_read(open_tab, look, app):
    """axe-core: labels, language, headings, contrast, keyboard; of every tab, and of a run."""
    from axe_playwright_python.sync_playwright import Axe

    tab, found = open_tab(color_scheme=look), []

    def judge(where: str) -> None:
        wrong = Axe().run(tab.page).response["violations"]
        found.extend((where, each["id"], node["html"]) for each in wrong for node in each["nodes"])

    for text in ("Equations of motion", "Lyapunov exponent"):
        tab.page.get_by_text(text).first.click()
    set_short(tab, "0.05")
    tab.until(lambda: tab.of("run").is_enabled())
    tab.of("run").click()
    tab.ends("completed")
    tab.until(lambda: tab.page.locator(".fem-chart canvas").count() == 1)
    judge("run")
    for place in ("Line", "Deck", "Results"):
        tab.page.get_by_role("tab", name=place).click()
        tab.page.wait_for_timeout(1000)
        judge(place)
    tab.of("open").click()
    tab.until(lambda: tab.of("folder-wrong").inner_text() != "")
    judge("refused")
    assert not found


def test_two_integrators_side_by_side_with_the_forces_of_joints(open_tab):
    tab = open_tab()
    tab.page.get_by_role("button", name="Double pendulum").click()
    tab.page.get_by_text("Equations of motion").click()
    tab.until(lambda: tab.of("equations").locator("math").count() == 3)
    choose(tab, "runs", "two integrators side by side")
    set_short(tab, "1")
    tab.of("run").click()
    tab.ends("completed")
    tab.until(lambda: tab.of("remarks").inner_text().startswith("distance of the two runs"))
    names = "() => getElement(Number(document.querySelector('.fem-outcome .fem-player').id.slice(1))).names"
    assert tab.page.evaluate(names) == ["ENERGY MOMENTUM", "NEWMARK"]
    tab.page.locator(".fem-outcome .fem-place").fill("0.4")  # pauses
    pictures = []
    for shown in (False, True):
        tab.page.locator(".fem-joints").set_checked(shown)
        tab.page.wait_for_timeout(150)
        canvas = tab.page.locator(".fem-outcome .fem-player canvas")
        pictures.append(canvas.evaluate("canvas => canvas.toDataURL()"))
    assert pictures[0] != pictures[1]


def test_section_and_exponent_of_the_string_pendulum(open_tab):
    """By the commands: period two of the rope at A = 8; what is wrong is said."""
    tab = open_tab()
    tab.page.get_by_role("tab", name="Deck").click()
    tab.of("deck").fill(str(ROOT / "inputs" / "string_pendulum_rope.inp"))
    tab.of("open-deck").click()
    tab.until(lambda: tab.of("parameter-increments").count() == 1 and tab.of("run-deck").is_enabled())
    tab.of("parameter-increments").fill("400")
    tab.page.get_by_text("Chaos: section and Lyapunov exponent").click()
    said = tab.of("exponent").last
    cycles = tab.page.get_by_label("periods", exact=True).last
    cycles.fill("1")
    tab.until(lambda: tab.of("sections").is_enabled())
    tab.of("sections").click()
    tab.until(lambda: "from 2 to" in said.inner_text())
    cycles.fill("60")
    tab.of("sections").click()
    tab.until(lambda: "period" in said.inner_text() and tab.page.locator(".fem-picture img").count() == 1)
    tab.page.get_by_label("over", exact=True).last.fill("20")
    tab.of("lyapunov").last.click()
    tab.until(lambda: "exponent" in said.inner_text() and "computing" not in said.inner_text())
