"""``fem.Builder``: builds a model in Python. It writes cards and reads them, so that all checks of decks apply."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fem.arrays import Ints
from fem.deck import parse_deck
from fem.errors import CommandError, DeckError
from fem.lines.spans import BOTTOM, LineSection, section_of
from fem.model import Model

Caller: TypeAlias = tuple[str, int]
"""File and line of the call of a method."""
Number: TypeAlias = float | str
"""A number, or what ``Builder.parameter`` has returned."""
STANDS = re.compile("<[^<>]+>")


class Builder:
    """Builds a model in Python: nodes, bars, supports, then steps with their loads. ``card`` adds any other card.

    Words, units and defaults are those of decks (``strain="ENGINEERING"`` is STRAIN=ENGINEERING). ``model`` reports all
    errors at once, each with the file and line of the call and the card that the call has produced.

    >>> chain = fem.Builder("A chain of 20 links between two hooks, SI units")
    >>> nodes = chain.nodes([(0.1 * k, 0.0, 0.0) for k in range(21)])
    >>> links = chain.bars(nodes, area=1e-4, modulus=1e9, density=8000.0, tangent_tension=1.0)
    >>> chain.support(nodes[[0, -1]])
    >>> chain.static(gravity=9.81)
    >>> history = fem.run(chain.model())
    >>> history.of_node(11)[-1, 2].round(4).item()
    -0.0389
    """

    def __init__(self, heading: str, name: str = "model") -> None:
        """name: of what it writes, as that of a deck's file."""
        self._name = name
        self._lines: list[str] = []
        self._callers: list[Caller] = []
        self._nodes = self._elements = self._groups = 0
        self._is_in_step = self._is_wet = False
        self._lifts: list[tuple[Any, ...]] = []
        self.card("HEADING", [[line] for line in heading.splitlines()])

    def parameter(self, name: str, value: float) -> str:
        """Add a ``*PARAMETER``, which ``fem.sweep`` varies and ``parameters=`` sets. Returns what stands for the number
        in later calls."""
        self.card("PARAMETER", [[f"{name} = {cell(value)}"]])
        return f"<{name}>"

    def card(self, keyword: str, rows: Iterable[Sequence[Any]] = (), /, *flags: str, **parameters: Any) -> None:
        """Add any card at this place of the deck: ``card("CLOAD", [(5, 1, 100.0)], amplitude="PULL")``.
        flags, parameters  as in decks; ``time_integrator`` is TIME INTEGRATOR; None omits a parameter"""
        given = {name: value for name, value in parameters.items() if value is not None}
        words = [name.upper().replace("_", " ") if name.islower() else name for name in given]
        pairs = zip(words, map(cell, given.values()), strict=True)
        head = [f"*{keyword}", *flags, *(f"{name}={value}" for name, value in pairs)]
        lines = [", ".join(head), *(", ".join(map(cell, row)) for row in rows)]
        self._lines += lines
        self._callers += [caller()] * len(lines)

    def nodes(self, places: ArrayLike) -> Ints:
        """Add nodes at coordinates (n, 3). Returns their labels (n,)."""
        found = shaped(places, 3, "places of nodes")
        labels = np.arange(self._nodes, self._nodes + len(found)) + 1
        self._nodes += len(found)
        self.card("NODE", [(label, *place) for label, place in zip(labels.tolist(), found.tolist(), strict=True)])
        return labels

    def bars(
        self, nodes: ArrayLike, *, area: Number, modulus: Number | None = None, density: Number | None = None,
        no_compression: bool = False, prestress: float = 0.0, tangent_tension: Number | None = None, **section: Any,
    ) -> Ints:  # fmt: skip
        """Add bars along a row of node labels (n,), or between pairs of labels (m, 2). Returns their labels (m,).

        modulus          None: bars of constant length (``*INEXTENSIBLE``)
        no_compression   the bars may go slack: cables, ropes
        prestress        initial tension, at the present distance of the nodes
        tangent_tension  stiffens the tangent of unstressed bars, so that statics finds a first shape; it is never part
                         of their force (``STARTING TENSION`` of decks)
        section          further parameters of ``*SOLID SECTION``: strain, mass
        """
        if "starting_tension" in section:
            what = "starting_tension is not a force: it only stiffens bars that carry none"
            raise CommandError(f"{what}; use tangent_tension= for that, prestress= for a force")
        if prestress and modulus is None:
            raise CommandError("prestress= needs a modulus: the force of inextensible bars follows from equilibrium")
        row = np.asarray(nodes)
        pairs = np.stack([row[:-1], row[1:]], axis=1) if row.ndim == 1 else row
        shaped(pairs, 2, "nodes of bars")
        labels, name = self._add("T3D2", pairs)
        self.card("MATERIAL", name=name)
        self.card(*(("INEXTENSIBLE",) if modulus is None else ("ELASTIC", [[modulus]])))
        if density is not None:
            self.card("DENSITY", [[density]])
        if no_compression:
            self.card("NO COMPRESSION")
        self.card("SOLID SECTION", [[area]], elset=name, material=name, starting_tension=tangent_tension, **section)
        if prestress and isinstance(area, str):
            raise CommandError("prestress= needs an area that is a number: decks have the stress")
        if prestress:
            self.card("INITIAL CONDITIONS", [(name, prestress / float(area))], type="STRESS")
        return labels

    def water(self, depth: float, *, density: float = 1025.0, gravity: float = 9.80665) -> None:
        """Add water with its surface at z = 0, and a seabed for lines that follow, which have buoyancy. SI units."""
        self._is_wet = True
        self.card("AQUA", [(-float(depth), 0.0, gravity, density)])

    def line(
        self, first: ArrayLike, last: ArrayLike, section: str | LineSection, *, bars: int = 20,
        length: Number | None = None, tension: Number | None = None, sag: Number | None = None, friction: float = 0.0,
    ) -> Ints:  # fmt: skip
        """Add a line in equilibrium between two points (3,), hanging or on the seabed; ``static(gravity=)`` is its
        first step. Returns the labels (bars + 1,) of its nodes.

        section   a name of the catalogue (R4-studless-142, wire-90, ...), or a ``fem.lines.spans.LineSection``
        length, tension, sag  one of them: natural length; tension at the last end; sag at mid-span
        friction  coefficient of friction with the seabed
        """
        measures = {name: value for name, value in (("tension", tension), ("sag", sag)) if value is not None}
        if len(measures) + (length is not None) != 1:
            raise CommandError("one of length, tension, sag must say how the line hangs")
        if bars < 1:
            raise CommandError(f"a line needs at least 1 bar, got {bars}")
        made = section_of(section) if isinstance(section, str) else section
        start, end = self._nodes + 1, self._nodes + 1 + bars
        labels, self._nodes = np.arange(start, end + 1), end
        one, other = shaped([first, last], 3, "ends of a line").tolist()
        self.card("NODE", [(start, *one), (end, *other)])
        self.card("NGEN", [(start, end, 1, *([] if length is None else [length]))], line="CATENARY", **measures)
        _, name = self._add("T3D2", np.stack([labels[:-1], labels[1:]], axis=1))
        self.card("MATERIAL", name=name)
        self.card("ELASTIC", [[made.stiffness]])
        self.card("DENSITY", [[made.mass]])
        self.card("NO COMPRESSION")
        self.card("SOLID SECTION", [[1.0]], elset=name, material=name, strain="ENGINEERING")
        if self._is_wet:
            rows = [(*BOTTOM, made.diameter), *([(friction,)] if friction else [])]
            self.card("SEABED", rows, elset=name)
            self._lifts.append((name, "PB", 1.0, made.volume_diameter))
        return labels

    def vessel(self, place: ArrayLike, nodes: ArrayLike) -> int:
        """Add a rigid body that holds nodes (n,), with its reference node at (3,), fixed until ``move`` offsets it.
        Returns the label of that node."""
        (node,) = self.nodes(np.reshape(place, (1, -1))).tolist()
        self.card("NSET", [[label] for label in np.atleast_1d(np.asarray(nodes)).tolist()], nset=f"ON{node}")
        self.card("RIGID BODY", ref_node=node, pin_nset=f"ON{node}")
        self.card("BOUNDARY", [(node, 1, 6)])
        return int(node)

    def masses(self, nodes: ArrayLike, mass: Number) -> Ints:
        """Add a point mass at each of the nodes (m,). Returns the labels (m,) of the masses."""
        labels, name = self._add("MASS", np.atleast_1d(np.asarray(nodes))[:, None])
        self.card("MASS", [[mass]], elset=name)
        return labels

    def support(self, nodes: ArrayLike, first: int = 1, last: int = 3) -> None:
        """Fix dofs first to last (1, 2, 3: x, y, z) of nodes at displacement 0, from the current step on or for all."""
        self.card("BOUNDARY", [(node, first, last) for node in np.atleast_1d(np.asarray(nodes)).tolist()])

    def amplitude(self, name: str, points: ArrayLike | None = None, *, first: float = 0.0) -> str:
        """Add a factor of loads and motions over time, linear between points (n, 2) of step time and value; without
        points a program sets it (``fem.stepper``), beginning with the value ``first``. Returns its name."""
        rows = [[first]] if points is None else shaped(points, 2, "points of an amplitude").tolist()
        self.card("AMPLITUDE", rows, name=name, definition="USER" if points is None else None)
        return name

    def move(
        self, nodes: ArrayLike, direction: int, value: Number, *, amplitude: str | None = None,
        kind: str = "DISPLACEMENT",
    ) -> None:  # fmt: skip
        """Move nodes along x, y or z (1, 2, 3) in the step: to a displacement, at a VELOCITY or ACCELERATION."""
        rows = [(node, direction, direction, value) for node in np.atleast_1d(np.asarray(nodes)).tolist()]
        self.card("BOUNDARY", rows, amplitude=amplitude, type=kind)

    def load(self, nodes: ArrayLike, force: ArrayLike | Sequence[Number], *, amplitude: str | None = None) -> None:
        """Apply a force (3,) to each of the nodes, in this step and later ones."""
        (parts,) = shaped([force] if np.ndim(force) < 2 else force, 3, "components of a force").tolist()
        along = [(direction, part) for direction, part in enumerate(parts, 1) if part]
        rows = [(node, *each) for node in np.atleast_1d(np.asarray(nodes)).tolist() for each in along]
        self.card("CLOAD", rows, amplitude=amplitude)

    def static(self, period: Number = 1.0, dt: Number | None = None, *, gravity: Number = 0.0, **step: Any) -> None:
        """Add a ``*STATIC`` step. gravity: acts on all elements along -z; step: parameters of ``*STEP``."""
        self._step(gravity, step, "STATIC", [[period if dt is None else dt, period]])

    def dynamic(
        self, period: Number, dt: Number, *, integrator: str = "NEWMARK", gravity: Number = 0.0, **step: Any
    ) -> None:
        """Add a ``*DYNAMIC, DIRECT`` step with constant increments dt."""
        self._step(gravity, step, "DYNAMIC", [[dt, period]], "DIRECT", time_integrator=integrator)

    def frequency(self, modes: int) -> None:
        """Add a ``*FREQUENCY`` step: the lowest modes about the current state."""
        self._step(0.0, {}, "FREQUENCY", [[modes]])

    def model(self) -> Model:
        """The model built so far. DeckError: all its errors, each with the line of the call that caused it."""
        lines = self._lines + (["*END STEP"] if self._is_in_step else [])
        try:
            return parse_deck("\n".join(lines) + "\n", name=self._name)
        except DeckError as error:
            callers = [*self._callers, caller()]
            found = [(problem, callers[min(problem.line, len(callers)) - 1]) for problem in error.problems]
            raise DeckError([replace(problem, file=file, line=line) for problem, (file, line) in found]) from None

    def _add(self, kind: str, nodes: Ints) -> tuple[Ints, str]:
        """Elements in a set of their own: returns labels (m,) and the name of the set."""
        labels = np.arange(self._elements, self._elements + len(nodes)) + 1
        self._elements += len(nodes)
        self._groups += 1
        name = f"{'BARS' if kind == 'T3D2' else kind}{self._groups}"
        rows = [(label, *ends) for label, ends in zip(labels.tolist(), nodes.tolist(), strict=True)]
        self.card("ELEMENT", rows, type=kind, elset=name)
        self.card("ELSET", [[name]], elset="ALL")
        return labels, name

    def _step(
        self, gravity: Number, step: dict[str, Any], keyword: str, rows: Any, *flags: str, **parameters: Any
    ) -> None:
        """End the previous step and begin another."""
        if self._is_in_step:
            self.card("END STEP")
        self._is_in_step = True
        self.card("STEP", (), "NLGEOM", **step)
        self.card(keyword, rows, *flags, **parameters)
        if gravity:
            self.card("DLOAD", [("ALL", "GRAV", gravity, 0.0, 0.0, -1.0), *self._lifts])
            self._lifts = []


def cell(value: Any) -> str:
    """A number (with all its digits) or a word as text of a card."""
    value = value.item() if isinstance(value, np.generic) else value
    return repr(value) if isinstance(value, float) else str(value)


def shaped(values: Any, width: int, what: str) -> Any:
    """(n, width) numbers, or what stands for them. Raises CommandError for any other shape."""
    try:
        found, got = np.asarray(values, float), f"{np.shape(values)}"
    except (TypeError, ValueError):
        found, got = np.empty(0), "what is none"
        with suppress(TypeError, ValueError):
            found = np.array(
                [[each if STANDS.fullmatch(str(each)) else float(each) for each in row] for row in values], object
            )
    if found.ndim != 2 or found.shape[1] != width or not len(found):
        raise CommandError(f"{what} are (n, {width}) numbers, got {got}")
    return found


def caller() -> Caller:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
