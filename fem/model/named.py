"""Names of single numbers in tables, sweeps, error bars, figures and on the command line: one spelling for all.

``T_e12``, ``U3_n5``: T of element 12, U3 of node 5; ``T_12``, ``U3_5``: the same, as the quantity determines whether
it is a node or an element; ``kinetic``: an energy of the model; ``T_e12_max``: a statistic; ``U1_2_end``: of a sweep.
``T_TOPS``: of a set, at each instant the largest of its elements or nodes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from fem.arrays import Ints
from fem.errors import CommandError, unknown
from fem.model.mesh import Mesh
from fem.model.quantities import ELEMENTAL, ENERGIES, NODAL, WHOLE, Quantity

NAME = re.compile(r"([A-Z]+[1-3]?)_([EN]?)(\d+)", re.IGNORECASE)
OF_SET = re.compile(r"([A-Z]+[1-3]?)_([A-Z][\w.-]*)", re.IGNORECASE)
WORDS = {"n": "node", "e": "element"}  # the kinds of numbers
PRINTS = {"n": "NODE PRINT", "e": "EL PRINT"}
TABLES = {"n": NODAL, "e": ELEMENTAL, "": WHOLE}
COLUMNS: dict[str, dict[str, tuple[Quantity, int]]] = {}
"""(kind, column of a table) -> its quantity and the index of the column within it; energies have the empty kind."""


def note_columns() -> None:
    """Fills ``COLUMNS`` from the tables of quantities; called again when one of them has changed in length."""
    for of, table in TABLES.items():
        COLUMNS[of] = {its: (each, n) for each in table for n, its in enumerate(each.columns)}


note_columns()


class Named(NamedTuple):
    """A number of a node (kind ``n``), of an element (``e``), or of the whole model (empty, label below 0); its column
    as tables have it, ``U3``."""

    column: str
    kind: str = ""
    label: int = -1

    def __str__(self) -> str:
        return f"{self.column}_{self.kind}{self.label}" if self.label >= 0 else self.column

    @property
    def quantity(self) -> Quantity:
        return COLUMNS[self.kind][self.column][0]

    @property
    def axis(self) -> int:
        """Index of the column within its quantity, from 0."""
        return COLUMNS[self.kind][self.column][1]

    @property
    def family(self) -> str:
        """The column without an axis: names with the same family are of the same size (T and T2, too)."""
        return self.column.rstrip("123")

    @property
    def request(self) -> str:
        """The request of a deck that prints it."""
        sets = "NSET" if self.kind == "n" else "ELSET"
        return f"request *{PRINTS[self.kind]}, {sets}=... with {self.family} in the deck, FREQUENCY=1"


class OfSet(NamedTuple):
    """A number of a set: at each instant the largest of its nodes (kind ``n``) or elements (``e``)."""

    column: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.column}_{self.name}"

    def members(self, labels: Iterable[int]) -> list[Named]:
        """The numbers of which it is the largest, of the labels in the set."""
        return [Named(self.column, self.kind, label) for label in labels]


def labels_of(mesh: Mesh, kind: str) -> Ints:
    """(p,) labels of all nodes (kind n) or all elements (kind e)."""
    return mesh.node_labels if kind == "n" else mesh.element_labels


def names_of(kind: str, columns: Collection[str], labels: Iterable[int]) -> list[str]:
    """All columns of one node (n) or element (e) after those of the other; without a kind ``T_12``."""
    return [str(Named(column, kind, label)) for label in labels for column in columns]


def kind_of(column: str) -> str:
    """Kind of items of a column named without one: elements for T, nodes for U3 (and for unknown columns)."""
    return "e" if column in COLUMNS["e"] else "n"


def item_named(text: str) -> Named:
    """Reads ``T_e12`` or ``T_12``. Raises CommandError if it is not a number of an element or node."""
    match = NAME.fullmatch(text.strip())
    if not match:
        raise CommandError(f"{text.strip()!r} does not name a series: write T_e12 (element 12) or U3_n5 (node 5)")
    column, kind = match[1].upper(), match[2].lower()
    kind = kind or kind_of(column)
    if column not in COLUMNS[kind]:
        raise CommandError(unknown(f"quantity of {WORDS[kind]}s", column, COLUMNS[kind]).args[0])
    return Named(column, kind, int(match[3]))


def set_named(text: str) -> OfSet | None:
    """Reads ``T_TOPS``, of a set; None: it is no such name."""
    match = None if NAME.fullmatch(text.strip()) else OF_SET.fullmatch(text.strip())
    column = match[1].upper() if match else ""
    if match and column in COLUMNS[kind_of(column)]:
        return OfSet(column, kind_of(column), match[2].upper())
    return None


def series_named(text: str) -> Named | OfSet:
    """As ``item_named``, and also reads ``T_TOPS``, of a set."""
    return set_named(text) or item_named(text)


def members_named(mesh: Mesh, text: str) -> list[Named]:
    """The numbers of a model that a series is the largest of. CommandError: there is no such set."""
    number = series_named(text)
    if isinstance(number, Named):
        return [number]
    sets = mesh.node_sets if number.kind == "n" else mesh.element_sets
    if number.name not in sets:
        raise CommandError(unknown(f"{WORDS[number.kind]} set", number.name, sets).args[0])
    return number.members(labels_of(mesh, number.kind)[sets[number.name]].tolist())


def number_named(text: str) -> Named:
    """As ``item_named``, and also reads names of energies."""
    return Named(text) if text in ENERGIES else item_named(text)


def split(name: str, statistics: Collection[str]) -> tuple[str, str]:
    """Series and statistic that a column names; the statistic is empty for the series itself."""
    series, _, what = name.rpartition("_")
    return (series, what) if series and what in statistics else (name, "")
