"""Content of a deck during reading: the model so far, its parts and instances, the open step.

The only objects of the package that are modified in place. Nodes, elements and sets are stored in tables by label, with
the place of each row in the deck.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fem import model
from fem.arrays import Floats, Ints, distinct
from fem.deck.cards import INSTANCE, Card, Field, Row
from fem.deck.source import Mistake, Place, listing
from fem.errors import MAX_PROBLEMS, DeckError, Problem
from fem.model import Controls, Model, OutputRequest
from fem.model.steps import HasProcedure, Procedure
from fem.model.surroundings import Airy, DragLaw, Jonswap, MarineGrowth, RigidCylinder, Seabed, Water, Wind

Where: TypeAlias = Callable[[int], Place]
"""Row of a chunk -> its place in the deck; called only when something is wrong with the row."""
MAX_PER_CARD = 20
"""Largest number of mistakes reported for one card."""
SAME_PLACE = 1e-9
"""Coordinates of one node may differ by this fraction of their size: generators and merged decks round differently."""


class Chunk(NamedTuple):
    """Nodes, or elements of one kind, of one card.

    numbers  (m, 3) coordinates of nodes; (m, 1 to 3) labels of the nodes of elements
    kind     of elements
    """

    labels: Ints
    numbers: np.ndarray
    where: Where
    kind: str = ""


class SetChunk(NamedTuple):
    """Members from one card; ``where`` None: they certainly exist."""

    labels: Ints
    where: Where | None


class LabelTable:
    """All nodes, or all elements, in deck order; ``rows``: label -> running number over all chunks."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.starts: list[int] = []
        self.rows: dict[int, int] = {}
        self.count = 0

    def put(self, chunk: Chunk) -> list[int]:
        """Append a chunk. Returns its rows whose labels exist already (the first occurrence is used)."""
        labels = chunk.labels.tolist()
        if not labels:
            return []
        start, self.count = self.count, self.count + len(labels)
        self.starts.append(start)
        self.chunks.append(chunk)
        if self.rows.keys().isdisjoint(labels):
            known = len(self.rows)
            self.rows.update(zip(labels, range(start, self.count), strict=True))
            if len(self.rows) == known + len(labels):
                return []
            for label in set(labels):  # update kept the last of several: keep the first
                del self.rows[label]
        return [at for at, label in enumerate(labels) if self.rows.setdefault(label, start + at) != start + at]

    def entry(self, row: int) -> tuple[Chunk, int]:
        """The chunk that contains row ``row`` of the table, and the row within it."""
        number = bisect_right(self.starts, row) - 1
        return self.chunks[number], row - self.starts[number]

    def place_of(self, label: int) -> Place:
        chunk, row = self.entry(self.rows[label])
        return chunk.where(row)


class NodeTable(LabelTable):
    """All nodes. A node given again at the same place has a row that no label refers to."""

    def add(self, labels: Ints, coordinates: Floats, where: Where) -> list[Mistake]:
        """Append nodes. A node given twice at the same place, up to round-off, is fine: the first counts."""
        mistakes: list[Mistake] = []
        for row in self.put(Chunk(labels, coordinates, where)):
            label = int(labels[row])
            apart = np.abs(self.at(label) - coordinates[row]).max()
            if len(mistakes) < MAX_PER_CARD and not apart <= SAME_PLACE * np.abs(coordinates[row]).max():
                message = f"node {label} is defined twice with different coordinates"
                mistakes.append(Mistake(where(row), message, f"it was first defined at {self.place_of(label)}"))
        return mistakes

    def at(self, label: int) -> Floats:
        """(3,) coordinates of a node."""
        chunk, row = self.entry(self.rows[label])
        return np.asarray(chunk.numbers[row])

    def once(self) -> tuple[Ints, Floats]:
        """Labels (n,) and coordinates (n, 3), each label once."""
        labels = np.concatenate([np.zeros(0, np.int64), *(chunk.labels for chunk in self.chunks)])
        coordinates = np.concatenate([np.zeros((0, 3)), *(chunk.numbers for chunk in self.chunks)])
        if len(self.rows) == self.count:
            return labels, coordinates
        first = np.array(list(self.rows.values()), np.int64)
        return labels[first], coordinates[first]


class ElementTable(LabelTable):
    def add(self, kind: str, labels: Ints, nodes: Ints, where: Where) -> list[Mistake]:
        """Append elements of one kind; labels must be new."""
        mistakes = []
        for row in self.put(Chunk(labels, nodes, where, kind))[:MAX_PER_CARD]:
            hint = f"it was first defined at {self.place_of(int(labels[row]))}"
            place = where(row)
            mistakes.append(Mistake(place, f"element {labels[row]} is defined twice", hint, f"elements of {place}"))
        return mistakes

    def find(self, label: int) -> tuple[str, Ints]:
        chunk, row = self.entry(self.rows[label])
        return chunk.kind, np.asarray(chunk.numbers[row])


class SetTable:
    """Named sets of labels; the same name may be filled by several cards."""

    def __init__(self) -> None:
        self.chunks: dict[str, list[SetChunk]] = {}
        self.unsorted: set[str] = set()
        self.joined: dict[tuple[str, bool], tuple[int, Ints]] = {}

    def add(self, name: str, labels: Ints, where: Where | None = None) -> None:
        self.chunks.setdefault(name, []).append(SetChunk(labels, where))

    def __contains__(self, name: object) -> bool:
        return name in self.chunks

    def ordered(self, name: str) -> Ints:
        """Members without duplicates: rising, or in the given order for a set defined with UNSORTED."""
        chunks, is_unsorted = self.chunks.get(name, []), name in self.unsorted
        done, members = self.joined.get((name, is_unsorted), (0, np.zeros(0, np.int64)))
        if done < len(chunks):  # only chunks added since the last call
            labels = np.concatenate([members, *(chunk.labels for chunk in chunks[done:])])
            members = np.array(list(dict.fromkeys(labels.tolist())), np.int64) if is_unsorted else distinct(labels)
            self.joined[name, is_unsorted] = len(chunks), members
        return members

    def named(self, target: str | int) -> Ints:
        """The members of a set, or a label by itself."""
        return self.ordered(target) if isinstance(target, str) else np.array([target], np.int64)


class LaidLine(NamedTuple):
    """A data line of it: labels from its first node to its last, and the natural length (None: to be found)."""

    labels: Ints
    length: float | None
    row: Row


class Catenary(NamedTuple):
    """``*NGEN, LINE=CATENARY``: its pieces, end to end, and the measure that gives the length of the blank one.

    measure  None: all lengths are given;  weight: per natural length, None: that of the bars in the first step
    on_bottom  SEABED: YES, NO, or nothing;  is_held  FRICTION: it lies with its friction mobilised
    """

    card: Card
    pieces: tuple[LaidLine, ...]
    measure: str | None
    value: float
    weight: float | None
    on_bottom: str
    is_held: bool


MAX_COLLECTED = 5000
"""Reading ends at this number of mistakes: further ones would have the same causes."""
BYTES_EACH = 2000
"""Memory for a node or element in bytes: less in sets, more during the solution."""
MOST_NAMED = 5


@dataclass(slots=True)
class MaterialDraft:
    """A ``*MATERIAL`` and the numbers below it, by the names of ``Material``'s fields."""

    name: str
    place: Place
    numbers: dict[str, object] = field(default_factory=dict)
    cards: dict[str, Place] = field(default_factory=dict)
    broken: bool = False


class Property(NamedTuple):
    """A property card; springs and dashpots stay text until the kind of their elements is known."""

    element_set: str
    card: Card
    value: model.BarSection | model.PointMass | model.RotaryInertia | None = None


class Use(NamedTuple):
    """A name or label that must exist in the end."""

    family: str
    name: str | int
    place: Place


class EquationTerm(NamedTuple):
    """A term of ``*EQUATION`` before sets are expanded."""

    target: str | int
    dof: int
    coefficient: float
    place: Place


EMPTY: dict[str, type] = {
    each.name: list if each.default == () else dict if each.default is MISSING else type(None)
    for each in fields(Model)
    if each.compare and each.name != "mesh"
}
"""Fields of the model that cards fill, with their empty values; tuples are lists while reading."""


class Draft:
    """Collects the content of all cards, their mistakes, and remarks for the user.

    Fields of the model have the same names here; entries of lists may be paired with their card or place.
    Nodes of bodies and planes may still be sets of one node; the elevation of a bottom is that of its own card.
    """

    heading: list[str]
    materials: dict[str, MaterialDraft]
    amplitudes: dict[str, model.Amplitude]
    time_points: dict[str, tuple[float, ...]]
    seabeds: list[tuple[Seabed, Card]]
    cylinders: list[tuple[RigidCylinder, Card]]
    equations: list[tuple[EquationTerm, ...]]
    links: list[tuple[str | int, str | int, Place]]
    initial_conditions: list[tuple[model.InitialCondition, Place]]
    nonstructural: list[tuple[model.NonstructuralMass, Place]]
    rest_lengths: list[tuple[model.RestLength, Place]]
    pulleys: list[tuple[model.Pulley, Place]]
    vortices: list[tuple[model.VortexLift, Place]]
    failures: list[tuple[model.Failure, Place]]
    water: Water | None
    wind: Wind | None
    waves: list[tuple[Airy | Jonswap, Card]]
    raos: dict[str, model.Rao]
    drag_laws: dict[str, DragLaw]
    growths: list[tuple[MarineGrowth, Place]]
    boundaries: list[tuple[model.Boundary, Place]]
    rotations: list[model.Boundary]
    turned: list[tuple[model.Boundary, Place]]
    bodies: list[tuple[model.RigidBody, Card]]
    free_bodies: list[tuple[model.RigidBody, Card]]
    planes: list[tuple[model.StopPlane, Card]]
    restart_every: int | None
    earlier: model.EarlierState | None
    steps: list[StepDraft]

    def __init__(self) -> None:
        for name, empty in EMPTY.items():
            setattr(self, name, empty())
        self.mistakes: list[Mistake] = []
        self.failed: set[str] = set()
        self.muted = False
        self.card: Card | None = None
        self.notices: dict[str, None] = {}
        self.ignored: dict[str, None] = {}
        self.extensions: dict[str, None] = {}
        self.generated = 0
        self.parts = CardOwners()
        self.instances: dict[str, Draft] = {}

        self.turned = []
        self.turned_clamps: list[tuple[model.Boundary, Place]] = []
        self.nodes = NodeTable()
        self.elements = ElementTable()
        self.catenaries: list[Catenary] = []
        self.laid: list[Any] = []
        self.forms: list[Any] = []
        self.forms_are_loaded = True
        self.earlier_writes = True
        self.first_step: StepDraft | None = None
        self.node_sets = SetTable()
        self.element_sets = SetTable()
        self.material: MaterialDraft | None = None
        self.properties: list[Property] = []
        self.ends: dict[str, tuple[Place, float]] = {}
        self.clamps: set[str | int] = set()
        self.ties: dict[Place, str] = {}
        self.connector_behaviors: dict[str, Card | None] = {}
        self.point_stresses: dict[str | int, tuple[float, ...]] = {}
        self.axes: list[tuple[str, Floats]] = []
        self.tide: Place | None = None
        self.uses: list[Use] = []
        self.names: set[tuple[str, str]] = set()
        self.step: StepDraft | None = None
        self.nlgeom = False
        self.controls = Controls(residual_relative=None)

    def report(self, *mistakes: Mistake) -> None:
        """Keeps mistakes, and notes the failed kind of card, so that its consequences are not reported, too.
        DeckError at ``MAX_COLLECTED`` of them."""
        if self.card is not None and mistakes:
            self.failed.add(self.card.keyword)
        for mistake in mistakes if not self.muted else ():
            self.mistakes.append(mistake)
            if len(self.mistakes) >= MAX_COLLECTED:
                self.raise_problems()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """A mistake inside is reported; reading continues after the block."""
        try:
            yield
        except Mistake as mistake:
            self.report(mistake)

    def has_failed(self, *keywords: str) -> bool:
        return not self.failed.isdisjoint(keywords)

    def rows(self, card: Card, needed: bool = True) -> Iterator[Row]:
        """The data lines of a card; too long ones are reported and left out."""
        empty = True
        for row in card.rows:
            empty = False
            with self.guard():
                row.check_size()
                yield row
        if empty and needed:
            raise card.mistake(f"*{card.keyword} has no data lines")

    def single_row(self, card: Card, what: str, further: str = "") -> Row:
        """The one data line of a card; ``further``: what is wrong with a second one."""
        rows = list(self.rows(card))
        if len(rows) > 1:
            raise Mistake(rows[1].place, further or f"*{card.keyword} takes one data line ({what}), got a second")
        if not rows:
            raise card.mistake(f"*{card.keyword} has no data line ({what})")
        return rows[0]

    def no_rows(self, card: Card) -> None:
        for row in card.rows:
            raise Mistake(row.place, f"*{card.keyword} takes no data lines")

    def notice(self, text: str) -> None:
        """A remark for the user, given once."""
        if not self.muted:
            self.notices[text] = None

    def ignore(self, what: str) -> None:
        """Notes a card or parameter without effect; all are reported in one notice."""
        if not self.muted:
            self.ignored[what] = None

    def extension(self, what: str) -> None:
        """Notes a feature that neither Abaqus nor CalculiX has."""
        self.extensions[what] = None

    @property
    def open_step(self) -> StepDraft:
        """The step that is being read; without one it is a mistake."""
        assert self.step is not None
        return self.step

    def spend(self, count: int, place: Place) -> None:
        """Counts generated nodes, elements, equations and set members; a mistake before they exceed the memory."""
        if (self.generated + count) * BYTES_EACH > machine_memory():
            raise Mistake(place, f"not enough memory for the {self.generated + count:.3g} entries generated")
        self.generated += count

    def use(self, family: str, name: str | int, place: Place) -> None:
        """Notes a name or label, to be looked up when all cards are read."""
        if not self.muted:
            self.uses.append(Use(family, name, place))

    def target(self, entry: Field, family: str) -> str | int:
        """A field that names a node (element) or a set of them."""
        what = f"{'a' if family == 'node' else 'an'} {family} label or set"
        label = entry.integer(f"the {family} label") if entry.is_integer() else entry.name(what)
        self.use(family, label, entry.place)
        return label

    def named(self, card: Card, parameter: str, family: str) -> str:
        """The name of something of a family that a parameter of the card gives."""
        name = card.needed(parameter)
        self.use(family, name, card.field(parameter).place)
        return name

    def named_if(self, card: Card, parameter: str, family: str) -> str | None:
        """The same, None without the parameter."""
        return self.named(card, parameter, family) if card.has(parameter) else None

    def declare(self, card: Card, family: str) -> str:
        """The new name given by ``NAME=``; names of one family are given once."""
        name = card.needed("NAME")
        if (family, name) in self.names:
            raise Mistake(card.field("NAME").place, f"{family} {name} is defined twice")
        self.names.add((family, name))
        return name

    def inner(self) -> Draft:
        """An empty draft for an instance, which shares mistakes and remarks with this one."""
        own = Draft()
        for name in ("mistakes", "failed", "notices", "ignored", "extensions", "ties"):
            setattr(own, name, getattr(self, name))
        return own

    def table(self, family: str) -> LabelTable:
        return self.nodes if family == "node" else self.elements

    def hint_at_instances(self, label: int, family: str) -> str:
        """For a label that is not there: the instances that have it."""
        found = [f"{name}.{label}" for name, own in self.instances.items() if label in own.table(family).rows]
        return f"labels of instances need the name of the instance: {listing(found[:MOST_NAMED])}" if found else ""

    def as_written(self, label: int | np.int64) -> str:
        """A label as it stands in the deck: ``INSTANCE.label``, or the label itself."""
        number, own = divmod(int(label), INSTANCE)
        return f"{list(self.instances)[number - 1]}.{own}" if number else str(label)

    def raise_problems(self) -> None:
        """DeckError with the first different problems in reading order, if any; only these look for their hints."""
        if self.mistakes:
            different: dict[tuple[Place, str], Mistake] = {}
            for mistake in sorted(self.mistakes, key=lambda mistake: mistake.place.order):
                different.setdefault((mistake.place, mistake.message), mistake)
            by_cause: dict[object, list[Mistake]] = {}
            for mistake in different.values():
                by_cause.setdefault(mistake.cause or mistake, []).append(mistake)
            if self.has_failed("PARAMETER"):  # unknown names are consequences of it
                kept = {cause: its for cause, its in by_cause.items() if not str(its[0].cause).startswith("<")}
                by_cause = kept or by_cause
            raise DeckError([first_of(its) for its in islice(by_cause.values(), MAX_PROBLEMS)])


def first_of(mistakes: Sequence[Mistake]) -> Problem:
    """The first of several mistakes with one cause, with the number of others."""
    problem, others = mistakes[0].problem(), len(mistakes) - 1
    if not others:
        return problem
    more = f"{others} more error{'s' * (others > 1)} of this kind {'have' if others > 1 else 'has'} the same cause"
    return replace(problem, hint="; ".join(filter(None, (problem.hint, more))))


def as_given(draft: Draft | StepDraft, names: Iterable[str]) -> dict[str, Any]:
    """Fields of a draft by name; lists as tuples, without the places that entries may be paired with."""

    def bare(entry: Any) -> Any:
        return entry[0] if isinstance(entry, tuple) and isinstance(entry[-1], Place | Card) else entry

    values = {name: getattr(draft, name) for name in names}
    return {name: tuple(map(bare, value)) if isinstance(value, list) else value for name, value in values.items()}


@cache
def machine_memory() -> float:
    """Memory of the machine in bytes; 8 GB if unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return 8e9


@dataclass(slots=True)
class StepDraft(HasProcedure):
    """Everything between ``*STEP`` and ``*END STEP``.
    output  of the latest ``*OUTPUT``, FILE or PRINT, for the cards below it;  is_bare: it has no card below it yet"""

    place: Place
    nlgeom: bool
    name: str | None = None
    title: tuple[str, ...] = ()
    max_increments: int | None = None
    extrapolation: str | None = None
    amplitude: str | None = None
    perturbation: Place | None = None
    procedure: Procedure | None = None
    procedure_place: Place | None = None
    blamed: bool = False
    controls: Controls | None = None
    replaced: set[str] = field(default_factory=set)
    changed: dict[str, Place] = field(default_factory=dict)
    boundaries: list[tuple[model.Boundary, Place]] = field(default_factory=list)
    rotations: list[model.Boundary] = field(default_factory=list)
    turned: list[tuple[model.Boundary, Place]] = field(default_factory=list)
    nodal_loads: list[model.NodalLoad] = field(default_factory=list)
    moments: list[tuple[model.NodalLoad, Place]] = field(default_factory=list)
    distributed_loads: list[model.DistributedLoad] = field(default_factory=list)
    fluid_loads: list[tuple[model.FluidLoad, Place]] = field(default_factory=list)
    temperatures: list[model.Temperature] = field(default_factory=list)
    removals: list[tuple[str | int, Place]] = field(default_factory=list)
    winches: list[tuple[model.Winch, Place]] = field(default_factory=list)
    shed: list[tuple[str, Place]] = field(default_factory=list)
    put: list[tuple[str, Place]] = field(default_factory=list)
    outputs: list[OutputRequest] = field(default_factory=list)
    output: OutputRequest | None = None
    is_bare: bool = False


OPENING = ("PART", "ASSEMBLY", "INSTANCE")


class Position(NamedTuple):
    """Of an instance: shifted first, then turned about the line from ``start`` to ``end`` (right-handed, degrees)."""

    shift: Floats
    start: Floats | None = None
    end: Floats | None = None
    degrees: float = 0.0

    def applied(self, coordinates: Floats) -> Floats:
        """(n, 3) positions in the assembly; quarter turns have sines and cosines without round-off.
        With p from the start of the line, k along it: p' = k (k.p) + cos (p - k (k.p)) + sin k x p.
        Source: Rodrigues' formula, Goldstein, Classical Mechanics, section 4.7."""
        placed = coordinates + self.shift if self.shift.any() else coordinates
        if self.start is None or self.end is None or self.degrees == 0.0:
            return placed
        quarters, rest = divmod(self.degrees, 90.0)
        cosine, sine = np.cos(np.radians(rest)), np.sin(np.radians(rest))
        for _ in range(int(quarters) % 4):
            cosine, sine = -sine, cosine
        axis = (self.end - self.start) / np.linalg.norm(self.end - self.start)
        from_start = placed - self.start
        along = (from_start @ axis)[:, None] * axis
        turned: Floats = self.start + along + cosine * (from_start - along) + sine * np.cross(axis, from_start)
        return turned


@dataclass(slots=True)
class PlacedPart:
    """An ``*INSTANCE``; ``cards``: those of its part and its own."""

    name: str
    part: str
    place: Place
    position: Position
    cards: list[Card]


class Opened(NamedTuple):
    """A ``*PART``, ``*ASSEMBLY`` or ``*INSTANCE`` that takes the cards below it."""

    keyword: str
    place: Place
    cards: list[Card]


class CardOwners:
    """Assigns the cards of a deck to parts, instances, the assembly or the model.

    cards_of   name of a part -> its cards; ``used``: parts that have instances
    open       the open parts, assembly or instances, innermost last
    rest       cards of the assembly and of the model
    """

    def __init__(self) -> None:
        self.cards_of: dict[str, list[Card]] = {}
        self.used: set[str] = set()
        self.assembly: Place | None = None
        self.instances: list[PlacedPart] = []
        self.open: list[Opened] = []
        self.rest: list[Card] = []

    def begin(self, card: Card, cards: list[Card]) -> list[Card]:
        """Opens ``card``: the cards that follow go to ``cards``."""
        self.open.append(Opened(card.keyword, card.place, cards))
        return cards


def set_procedure(card: Card, draft: Draft, procedure: Procedure) -> None:
    step = draft.open_step
    if step.procedure_place is not None:
        raise card.mistake("the step has two procedures", f"the first is at {step.procedure_place}")
    step.procedure, step.procedure_place = procedure, card.place
