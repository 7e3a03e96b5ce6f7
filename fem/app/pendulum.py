"""The tab of the pendulum: a form and a drawing, its equations of motion, and what its runs give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from nicegui import ui

from fem.app import deck_text, equations
from fem.app.chaos import ChaosPanel
from fem.app.outcome import COLOURS, NumberField, OutcomePanel, not_negative, positive, read_number, whole
from fem.app.solver import Workplace
from fem.errors import CommandError
from fem.lines import pendulums
from fem.lines.pendulums import INTEGRATOR, QUANTITIES, Pendulum

HEADS = {"length": "length [m]", "mass": "mass [kg]", "angle": "angle [°]", "speed": "speed [°/s]"}
CHECKS = {"length": positive, "mass": positive, "angle": None, "speed": None}
BODIES = {"bar": "slender bars", "point": "point masses", "centre": "masses at centres"}
ABOUT = {
    "bar": "Slender bars: moment of inertia m L²/12 about the centre.",
    "point": "Point masses at the lower ends of massless rods.",
    "centre": "Point masses at the centres of massless rods.",
}
INTEGRATORS = {
    INTEGRATOR: "keeps energy and momentum to round-off with any increment: the choice for long runs.",
    "NEWMARK": "is the trapezoidal rule, without numerical damping; when increments are long, the energy may drift.",
    "GENERALIZED ALPHA": "damps vibrations that the increment cannot resolve, and slow motion very little.",
    "HHT": "damps what the increment cannot resolve, and slow motion more than GENERALIZED ALPHA does.",
    "BACKWARD EULER": "has strong numerical damping: it finds the position of rest, not the motion.",
}
DRAG = "Drag a joint to turn its link. Angles are counter-clockwise from the downward vertical."
FORMS = "Numbers may be formulas: 1,5 or 3/2 or sqrt(2). In degrees, pi means 180: pi/2 is 90°."
DAMPING = """Damping is drag of the air, linear in the velocity v: a force damping · m · v on every mass m. One point \
mass: θ″ + damping · θ′ + (g/L) sin θ = 0. Joints have no friction."""
START, SCHEME = "start", "scheme"
PAIRS = {"": "one run", START: "two runs from nearly the same start", SCHEME: "two integrators side by side"}
ANGLES = {False: "from the previous link", True: "from the vertical"}


class PendulumPlace:
    """A form, what it describes, and what its run gives."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._texts: dict[str, list[str]] = {}
        self._rows: dict[str, list[Any]] = {}
        self._is_filling = True
        with ui.element("div").classes("fem-two"):
            with ui.column().classes("w-full gap-3"):
                with ui.row().classes("items-center gap-2"):
                    ui.label("Examples:").classes("fem-quiet")
                    for name in deck_text.PRESETS:
                        ui.button(name, on_click=lambda name=name: self._take(name)).props("outline dense no-caps")
                self._build_table()
                self._build_numbers()
                self._build_run()
            with ui.column().classes("w-full gap-2 items-center"):
                self._drawing = Drawing(self._turn)
                ui.label(DRAG).classes("fem-quiet")
        self._outcome = OutcomePanel(workplace, self._follow)
        self._take("Five links")

    # ------------------------------------------------------------------------------------------ the form
    def _build_table(self) -> None:
        with ui.row().classes("w-full items-start gap-3"):
            check = whole(1, deck_text.MOST_LINKS, "links")
            self._links = NumberField("number of links", "5", check=check, on_change=self._resize)
            self._absolute = ui.select(ANGLES, value=False, label="angles and speeds", on_change=self._changed)
            self._absolute.props("dense outlined").classes("fem-choice")
        self._table = ui.element("div").classes("fem-links")
        ui.label(FORMS).classes("fem-quiet")

    def _build_numbers(self) -> None:
        with ui.element("div").classes("fem-grid"):
            given: dict[str, Any] = {"on_change": self._changed}
            self._body = ui.select(BODIES, value="bar", label="body", **given).props("dense outlined")
            hint = "axial stiffness E A of every link; empty: links are rigid"
            optional: dict[str, Any] = given | {"is_optional": True}
            self._stiffness = NumberField("stiffness EA", check=positive, unit="N", hint=hint, **optional)
            self._gravity = NumberField("gravity", "9.81", check=not_negative, unit="m/s²", **given)
            hint = "drag of the air; empty: none"
            self._damping = NumberField("damping", check=not_negative, unit="1/s", hint=hint, **optional)
            self._time = NumberField("time", "10", check=positive, unit="s", **given)
            self._dt = NumberField("increment dt", "0.001", check=positive, unit="s", **given)
            self._integrator = ui.select(list(INTEGRATORS), value=INTEGRATOR, label="integrator", **given)
            self._integrator.props("dense outlined").classes("fem-wide")
        self._help = ui.label().classes("fem-quiet").props("data-testid=integrator-help")

    def _build_run(self) -> None:
        given: dict[str, Any] = {"on_change": self._changed}
        with ui.row().classes("w-full items-center gap-3"):
            self._run = ui.button("Run", on_click=self._start).props("no-caps icon=play_arrow").props("data-testid=run")
            self._pair = ui.select(PAIRS, value="", label="runs", **given).props("dense outlined data-testid=runs")
            self._pair.classes("fem-choice")
            hint = "how much larger the angle of the first link is at the start of the second run"
            self._offset = NumberField("turned by", "1e-6", unit="°", hint=hint, check=positive, **given)
            self._offset.input.bind_visibility_from(self._pair, "value", value=START)
            self._other = ui.select(list(INTEGRATORS), value="NEWMARK", label="second integrator", **given)
            self._other.props("dense outlined").classes("fem-choice")
            self._other.bind_visibility_from(self._pair, "value", value=SCHEME)
            self._wrong = ui.label().classes("fem-failure grow").props("data-testid=wrong")
        with ui.expansion("Lyapunov exponent").props("dense").classes("w-full"):
            self._chaos = ChaosPanel(self._workplace, self._write_asked, has_section=False, over="100")
        with ui.expansion("Equations of motion").props("dense").classes("w-full"):
            self._equations = ui.html("", sanitize=False).classes("w-full fem-equations")
            self._equations.props("data-testid=equations tabindex=0")

    def _take(self, name: str) -> None:
        preset = deck_text.PRESETS[name]
        self._is_filling = True
        columns = zip(QUANTITIES, (preset.lengths, preset.masses, preset.angles, preset.speeds), strict=True)
        self._texts = {quantity: [f"{value:g}" for value in values] for quantity, values in columns}
        self._links.set(str(preset.links))
        self._absolute.value, self._body.value = False, preset.body
        self._integrator.value = preset.integrator or INTEGRATOR
        self._stiffness.set("" if preset.stiffness is None else f"{preset.stiffness:g}")
        self._damping.set("")
        self._gravity.set("9.81")
        self._time.set(f"{preset.time:g}")
        self._dt.set(f"{preset.dt:g}")
        self._fill_table()
        self._is_filling = False
        self._changed()

    def _resize(self) -> None:
        """As many rows as links; new ones are like the last."""
        count = self._links.value
        if self._is_filling or count is None:
            self._changed()
            return
        for cells in self._texts.values():
            cells[:] = (cells + [cells[-1]] * int(count))[: int(count)]
        self._fill_table()
        self._changed()

    def _fill_table(self) -> None:
        self._table.clear()
        self._rows = {quantity: [] for quantity in QUANTITIES}
        with self._table:
            for head in ("link", *HEADS.values()):
                ui.label(head).classes("fem-quiet")
            ui.label("all").classes("fem-quiet")
            for quantity in QUANTITIES:
                alike = ui.input(
                    placeholder="same for all", on_change=lambda event, q=quantity: self._fill(q, event.value)
                )
                alike.props("dense borderless").classes("fem-cell fem-alike").props(f"data-testid=all-{quantity}")
                alike.props(f'aria-label="{HEADS[quantity]} of all links"')
            for link in range(len(self._texts["length"])):
                ui.label(str(link + 1)).classes("fem-quiet")
                for quantity in QUANTITIES:
                    self._rows[quantity].append(self._cell(quantity, link))

    def _cell(self, quantity: str, link: int) -> Any:
        def wrong(text: object) -> str | None:
            return read_number(text, CHECKS[quantity], unit=HEADS[quantity])[1] or None

        def change(event: Any) -> None:
            self._texts[quantity][link] = event.value or ""
            self._changed()

        cell = ui.input(value=self._texts[quantity][link], on_change=change, validation=wrong)
        cell.props("dense outlined hide-bottom-space inputmode=decimal").classes("fem-cell")
        cell.props(f'aria-label="{HEADS[quantity]} of link {link + 1}"')
        return cell.props(f"data-testid={quantity}-{link + 1}")

    def _fill(self, quantity: str, text: str) -> None:
        if not text:
            return
        self._is_filling = True
        for cell in self._rows[quantity]:
            cell.value = text
        self._is_filling = False
        self._changed()

    def _turn(self, link: int, angle: float) -> None:
        """Take over the angle of a joint that was deck_text.dragged."""
        self._rows["angle"][link].value = f"{angle:g}"

    # ------------------------------------------------------------------------------------------ what it describes
    def _numbers(self, quantity: str) -> list[float]:
        """Of all links. CommandError: one is wrong."""
        found = []
        for link, text in enumerate(self._texts[quantity], 1):
            value, wrong = read_number(text, CHECKS[quantity], unit=HEADS[quantity])
            if value is None:
                raise CommandError(f"{quantity} of link {link}: {wrong}")
            found.append(value)
        return found

    def _asked(self) -> Pendulum:
        """What the form describes. CommandError: something is wrong with it."""
        others = (self._offset,) if self._pair.value == START else ()
        for field in (self._links, self._stiffness, self._gravity, self._damping, self._time, self._dt, *others):
            if field.wrong:
                raise CommandError(f"{field.label}: {field.wrong}")
        columns = [tuple(self._numbers(quantity)) for quantity in QUANTITIES]
        time, dt = self._time.value or 0.0, self._dt.value or 0.0
        if time / dt > deck_text.MOST_INCREMENTS:
            most = f"at most {deck_text.MOST_INCREMENTS:,}; raise dt or shorten the time"
            raise CommandError(f"{time / dt:.3g} increments: {most}")
        speeds = columns[3] if any(columns[3]) else ()
        return Pendulum(
            columns[0], columns[1], columns[2], speeds, bool(self._absolute.value), str(self._body.value),
            self._stiffness.value, self._gravity.value or 0.0, time, dt, str(self._integrator.value),
            self._damping.value or 0.0,
        )  # fmt: skip

    def _changed(self, *_: object) -> None:
        """Say what is wrong, and draw what can be drawn."""
        if self._is_filling:
            return
        body, integrator = str(self._body.value), str(self._integrator.value)
        texts = ABOUT[body], integrator, INTEGRATORS[integrator], DAMPING if self._damping.value else ""
        self._help.text, self._wrong.text = " ".join(texts), ""
        try:
            bobs = self._numbers("mass") if body == "point" else []
            self._drawing.show(self._numbers("length"), self._numbers("angle"), bool(self._absolute.value), bobs)
            self._equations.content = equations.equations_of(self._asked())
        except CommandError as error:
            self._wrong.text = str(error)
        self._follow()
        self._chaos.set_enabled(not self._wrong.text)

    # ------------------------------------------------------------------------------------------ runs
    def _write(self, pendulum: Pendulum, name: str = "") -> Path:
        name = name or f"pendulum_{pendulum.links}"
        deck = self._workplace.new_folder(name) / f"{name}.inp"
        deck.write_text(pendulums.deck_text(pendulum), encoding="utf-8", newline="")
        return deck

    async def _write_asked(self) -> Path:
        return self._write(self._asked())

    def _start(self) -> None:
        if self._outcome.is_running:
            return
        pendulum, names = self._asked(), ("first run", "second run")
        decks = [self._write(pendulum)]
        if self._pair.value == START:
            first, *others = pendulum.angles
            # Relative angles of the others go with the first link: all of the chain is turned.
            decks.append(self._write(replace(pendulum, angles=(first + (self._offset.value or 0.0), *others)), "other"))
        if self._pair.value == SCHEME:
            names = (pendulum.integrator, str(self._other.value))
            decks.append(self._write(replace(pendulum, integrator=names[1]), "other"))
        runs = [self._workplace.solve(deck, deck.parent / "results") for deck in decks]
        self._outcome.show([deck.parent / "results" for deck in decks], runs, decks[0], names)
        self._follow()

    def _follow(self) -> None:
        """While it runs, nothing else is started here."""
        self._run.set_enabled(not self._outcome.is_running and not self._wrong.text)


SIZE = 460
MARGIN = 26
BOB = 12
REACH = 18
"""Pixels of the drawing from a joint at which it is taken."""


class Drawing:
    """Joints in a square with the fixed one in its middle; ``on_drag`` is told the link (from 0) and its angle."""

    def __init__(self, on_drag: Callable[[int, float], Any]) -> None:
        self._on_drag = on_drag
        self._lengths: list[float] = []
        self._angles: list[float] = []
        self._bobs: list[float] = []
        self._is_absolute = False
        self._held: int | None = None
        self._image = ui.interactive_image(size=(SIZE, SIZE), sanitize=False)
        self._image.classes("fem-drawing").props("data-testid=drawing")
        self._image.on("svg:pointerdown", self._take)
        self._image.on("svg:pointermove", self._move, throttle=0.03)
        self._image.on("svg:pointerup", self._leave)
        self._image.on("svg:pointerleave", self._leave)

    def show(self, lengths: list[float], angles: list[float], is_absolute: bool, bobs: list[float]) -> None:
        """Redraw with other numbers; bobs: the masses at the joints, where there are any."""
        self._lengths, self._angles, self._is_absolute, self._bobs = lengths, angles, is_absolute, bobs
        self._image.content = self._content()

    @property
    def _scale(self) -> float:
        """Pixels of a length of one."""
        return (SIZE / 2 - MARGIN) / (sum(self._lengths) or 1.0)

    def _content(self) -> str:
        """SVG: the reach, the vertical, links, joints."""
        middle, places = SIZE / 2, deck_text.joints_of(self._lengths, self._angles, self._is_absolute)
        pixels = [(middle + self._scale * x, middle - self._scale * z) for x, z in places]
        reach = middle - MARGIN
        parts = [
            f'<rect width="{SIZE}" height="{SIZE}" fill="transparent" pointer-events="all" style="touch-action:none"/>',
            f'<circle class="fem-reach" cx="{middle}" cy="{middle}" r="{reach}"/>',
            f'<line class="fem-reach" x1="{middle}" y1="{middle}" x2="{middle}" y2="{middle + reach}"/>',
        ]
        for link, ((x1, y1), (x2, y2)) in enumerate(pairwise(pixels)):
            look = f'style="stroke:{COLOURS[link % len(COLOURS)]}"'
            parts.append(f'<line class="fem-link" {look} x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"/>')
        size = min(7.0, max(3.0, 0.3 * self._scale * min(self._lengths)))
        largest = min(BOB, 2.0 * size)
        sizes = [largest * math.cbrt(mass / max(self._bobs)) for mass in self._bobs] or [size] * len(self._lengths)
        for joint, ((x, y), r) in enumerate(zip(pixels[1:], sizes, strict=False), 1):
            look = f' style="fill:{COLOURS[(joint - 1) % len(COLOURS)]}"' if self._bobs else ""
            parts.append(f'<circle class="fem-joint" id="joint-{joint}"{look} cx="{x:.2f}" cy="{y:.2f}" r="{r:.1f}"/>')
        x, y = pixels[0]
        parts.append(f'<path class="fem-fixed" d="M{x} {y} l-9 -14 h18 z"/>')
        return "".join(parts)

    def _place(self, event: Any) -> tuple[float, float]:
        x, y = float(event.args["image_x"]), float(event.args["image_y"])
        return (x - SIZE / 2) / self._scale, (SIZE / 2 - y) / self._scale

    def _take(self, event: Any) -> None:
        places = deck_text.joints_of(self._lengths, self._angles, self._is_absolute)
        self._held = deck_text.nearest_joint(places, *self._place(event), REACH / self._scale)

    def _move(self, event: Any) -> None:
        if self._held is not None and self._held <= len(self._lengths):
            place = self._place(event)
            angle = deck_text.dragged(self._lengths, self._angles, self._is_absolute, self._held, *place)
            self._on_drag(self._held - 1, angle)

    def _leave(self, _: Any) -> None:
        self._held = None
