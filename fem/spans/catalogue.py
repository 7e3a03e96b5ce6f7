"""What chains, ropes and conductors weigh and how stiff they are: ``catalogue.csv``, each number with its source.

A quantity is the sum of its lines, factor * d^power, with the nominal diameter d in metres; all in SI units. Names are
``studless-142`` and ``R4-studless-142`` (grade: breaking strength; nominal diameter in mm), ``wire-90``,
``polyester-200``, or the code word of a conductor, ``drake``.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fem.errors import CommandError

TABLE = Path(__file__).with_name("catalogue.csv")


@dataclass(frozen=True, slots=True)
class Section:
    """What a line is made of, per length.

    diameter         nominal; that of drag
    mass, stiffness  per natural length; E A
    volume_diameter  of a cylinder that displaces as much water; 0: the diameter
    drag, axial_drag  coefficients of forces on d and on pi d
    added_mass, axial_added_mass  of the displaced water
    strength         breaking load; 0: not known
    sources          quantity -> the document it comes from
    """

    name: str
    diameter: float
    mass: float
    stiffness: float
    volume_diameter: float = 0.0
    drag: float = 1.2
    axial_drag: float = 0.0
    added_mass: float = 1.0
    axial_added_mass: float = 0.0
    strength: float = 0.0
    sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("diameter", "mass", "stiffness"):
            if not getattr(self, name) > 0.0:
                raise CommandError(f"the {name} of a line must be positive, got {getattr(self, name):g}")
        if not self.volume_diameter:
            object.__setattr__(self, "volume_diameter", self.diameter)


def rows() -> list[dict[str, str]]:
    """Lines of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known() -> str:
    """Names there are."""
    sections = dict.fromkeys(row["section"] for row in rows() if "-" not in row["section"])
    words = sorted({row["section"] for row in rows() if row["quantity"] == "diameter"})
    grades = [name for name in sections if name[0] == "R"]
    ropes = [f"{name}-MM" for name in sections if name not in (*words, *grades)]
    chains = f"chains also with a grade, {', '.join(grades)}: R4-studless-MM"
    return f"{', '.join(ropes)} (MM: nominal diameter in mm; {chains}), {', '.join(words)}"


def section(name: str) -> Section:
    """Of a name in the catalogue. CommandError: there is none of that name; it says which there are.

    Of R3-studless-MM the lines of R3, of studless, and in place of those of R3-studless where there are some.
    """
    *parts, size = name.split("-")
    diameter = 0.0
    with suppress(ValueError):
        diameter = 1e-3 * float(size)
    parts = parts if diameter > 0.0 else [name]
    numbers: dict[str, float] = {"diameter": diameter} if diameter > 0.0 else {}
    sources: dict[str, str] = {}
    found = []
    for part in (*parts, "-".join(parts)):
        own: dict[str, float] = {}
        for row in rows():
            if row["section"].lower() == part.lower():
                term = float(row["factor"]) * diameter ** int(row["power"])
                own[row["quantity"]] = own.get(row["quantity"], 0.0) + term
                sources[row["quantity"]] = row["source"]
        numbers |= own
        found.append(bool(own))
    if not all(found[: len(parts)]) or not {"mass", "diameter"} <= set(numbers):
        raise CommandError(f"there is no section {name!r} in the catalogue; there are {known()}")
    return Section(name, **numbers, sources=sources)
