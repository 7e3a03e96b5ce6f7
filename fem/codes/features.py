"""What a deck asks of a code, feature by feature, and the refusal of what a code cannot express.

A code lists the features that it can express, with the form they take there; all others are refused, by the line of
the deck. The table of docs/other_codes.md is made of these lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np

from fem.arrays import frozen
from fem.errors import DeckError, Problem
from fem.model import Dynamic, Model, Static
from fem.model.curves import Amplitude
from fem.model.mesh import BARS

Found: TypeAlias = Iterable[tuple[str, str]]
"""Cards that ask for a feature: keyword, and a word that stands in the card or in the lines below it (or nothing)."""


@frozen
class Feature:
    """One row of the table of codes: ``found`` gives the cards of a model that ask for it."""

    name: str
    found: Callable[[Model], Found]
    hint: str = ""


def of_materials(card: str, is_used: Callable[..., bool]) -> Callable[[Model], Found]:
    """Materials of sections that have a property."""

    def found(model: Model) -> Iterator[tuple[str, str]]:
        for name in dict.fromkeys(section.material for section in model.sections):
            if is_used(model.materials[name]):
                yield card, ""

    return found


def of_parts(card: str, *fields: str) -> Callable[[Model], Found]:
    """Fields of a model that are not empty."""
    return lambda model: [(card, "") for name in fields if getattr(model, name)]


def of_steps(card: str, *fields: str) -> Callable[[Model], Found]:
    """Fields of steps that are not empty."""
    return lambda model: [(card, "") for step in model.steps for name in fields if getattr(step, name)][:1]


def of_rules(rule: str) -> Callable[[Model], Found]:
    return lambda model: [("SOLID SECTION", rule) for section in model.sections if section.mass_rule == rule][:1]


def of_initial(kind: str) -> Callable[[Model], Found]:
    return lambda model: [
        ("INITIAL CONDITIONS", kind) for each in model.initial_conditions if each.kind == kind and each.value
    ][:1]


def of_elements(*kinds: str) -> Callable[[Model], Found]:
    return lambda model: [("ELEMENT", block.kind) for block in model.mesh.blocks if block.kind in kinds]


def of_fluids(*kinds: str) -> Callable[[Model], Found]:
    return lambda model: [
        ("DLOAD", load.kind) for step in model.steps for load in step.fluid_loads if load.kind in kinds
    ][:1]


def of_procedures(is_meant: Callable[..., bool], card: str) -> Callable[[Model], Found]:
    return lambda model: [(card, "") for step in model.steps if is_meant(step.procedure)][:1]


def moved_supports(model: Model) -> Iterator[tuple[str, str]]:
    for step in model.steps:
        for each in step.boundaries:
            if each.value or each.kind == "FIXED":
                yield "BOUNDARY", str(each.target)
                return


def linear_steps(model: Model) -> Found:
    return [("STEP", "") for step in model.steps if not step.nlgeom][:1]


def integrated(*names: str) -> Callable[[Model], Found]:
    return lambda model: [
        ("DYNAMIC", "")
        for step in model.steps
        if isinstance(step.procedure, Dynamic) and step.procedure.integrator in names
    ][:1]


def amplitudes(is_meant: Callable[[Amplitude], bool]) -> Callable[[Model], Found]:
    return lambda model: [("AMPLITUDE", name) for name, each in model.amplitudes.items() if is_meant(each)][:1]


def tilted(model: Model) -> Found:
    return [("SEABED", "") for bed in model.seabeds if bed.slope or bed.axial != bed.lateral][:1]


FEATURES = (
    Feature("bars (T3D2, T2D2)", of_elements(*BARS)),
    Feature("cables (NO COMPRESSION)", of_materials("NO COMPRESSION", lambda one: one.compression_ratio != 1.0)),
    Feature("struts (NO TENSION)", of_materials("NO TENSION", lambda one: one.tension_ratio != 1.0)),
    Feature(
        "mass of bars: LUMPED", lambda model: [("SOLID SECTION", "") for s in model.sections if s.mass_rule == "LUMPED"]
    ),
    Feature("mass of bars: CONSISTENT", of_rules("CONSISTENT"), "MASS=LUMPED, with more bars, comes close"),
    Feature("mass of bars: ONE POINT", of_rules("ONE POINT"), "MASS=LUMPED with half the length has its period"),
    Feature("point masses (MASS)", of_elements("MASS")),
    Feature("rest lengths, laid lines", of_parts("REST LENGTH|NGEN", "rest_lengths"), "give bars an initial stress"),
    Feature("initial stress", of_initial("STRESS")),
    Feature("initial displacements", of_initial("DISPLACEMENT"), "move the nodes"),
    Feature("initial velocities", of_initial("VELOCITY"), "begin with a *STATIC step that holds, then releases"),
    Feature("damping BETA", of_materials("DAMPING", lambda one: one.beta != 0.0), "leave BETA out, in both codes"),
    Feature(
        "damping ALPHA",
        lambda model: [
            *of_materials("DAMPING", lambda one: one.alpha != 0.0)(model),
            *(("MASS", each.element_set) for each in model.masses if each.alpha),
        ],
        "leave ALPHA out, in both codes",
    ),
    Feature("axial springs (SPRINGA)", of_elements("SPRINGA")),
    Feature("springs of dofs (SPRING1, SPRING2)", of_elements("SPRING1", "SPRING2"), "use SPRINGA to a fixed node"),
    Feature("tables of springs", lambda model: [("SPRING", each.element_set) for each in model.springs if each.table]),
    Feature("axial dashpots (DASHPOTA)", of_elements("DASHPOTA")),
    Feature("dashpots of dofs", of_elements("DASHPOT1", "DASHPOT2"), "use DASHPOTA to a fixed node"),
    Feature("loads at nodes (CLOAD)", of_steps("CLOAD", "nodal_loads")),
    Feature("weight, body forces", of_steps("DLOAD", "distributed_loads")),
    Feature("moved supports", moved_supports),
    Feature("static steps", of_procedures(lambda one: isinstance(one, Static), "STATIC")),
    Feature("dynamic steps", of_procedures(lambda one: isinstance(one, Dynamic), "DYNAMIC")),
    Feature("weight in water, drag, added mass", of_fluids("PB", "FDD", "FDT", "FI")),
    Feature("current", lambda model: [("AQUA", "")] if model.water and np.any(np.array(model.water.current)[..., :3]) else []),
    Feature("seabed", of_parts("SEABED", "seabeds"), "hold the grounded nodes by *BOUNDARY"),
    Feature("slope of the seabed, friction by direction", tilted, "one coefficient of friction, SLOPE=0"),
    Feature("links (MPC), equations", of_parts("MPC", "links")),
    Feature("equations", of_parts("EQUATION", "equations")),
    Feature("temperatures", of_steps("TEMPERATURE", "temperatures"), "give bars an initial stress"),
    Feature("rods and ropes (INEXTENSIBLE)", of_materials("INEXTENSIBLE", lambda one: one.is_inextensible), "use a high modulus"),
    Feature("rope laws (UNIAXIAL, VISCOELASTIC)", of_materials("MATERIAL", lambda one: one.has_rope_law), "use *ELASTIC"),
    Feature("waves", of_parts("WAVE", "waves")),
    Feature("wind", of_parts("WIND", "wind")),
    Feature("drag laws, marine growth", of_parts("DRAG LAW", "drag_laws", "growths")),
    Feature("nonstructural mass", of_parts("NONSTRUCTURAL MASS", "nonstructural"), "use *MASS at the nodes"),
    Feature("rope over pulleys, winches", lambda model: [*of_elements("PULLEY")(model), *of_steps("WINCH", "winches")(model)]),
    Feature("failure, removal of elements", lambda model: [*of_parts("FAILURE", "failures")(model), *of_steps("MODEL CHANGE", "removals", "shed", "put")(model)]),
    Feature("rigid bodies, RAO", of_parts("RIGID BODY", "bodies")),
    Feature("stops, cylinders", of_parts("STOP PLANE", "planes", "cylinders")),
    Feature("continued runs (RESTART, READ)", lambda model: [("RESTART", "READ")] if model.earlier else []),
    Feature("geometrically linear steps", linear_steps, "state NLGEOM"),
    Feature("arc length (RIKS), VISCO", of_procedures(lambda one: isinstance(one, Static) and (one.riks is not None or one.creeps), "STATIC")),
    Feature("modes, harmonic response", of_procedures(lambda one: not isinstance(one, Static | Dynamic), "FREQUENCY")),
    Feature("explicit steps", integrated("CENTRAL DIFFERENCE"), "use TIME INTEGRATOR=NEWMARK"),
    Feature("amplitudes set during the run (USER)", amplitudes(lambda one: one.definition == "USER")),
)  # fmt: skip


def line_of(model: Model, keyword: str, word: str) -> tuple[str, int, str]:
    """File, line and text of the first card of a keyword (or ``ONE|OTHER``) that has a word in it, or of the first one.

    Line 1 of the deck where no file has such a card.
    """
    first: tuple[str, int, str] | None = None
    wanted = re.compile(r"\*\s*(" + keyword.replace(" ", r"\s*") + r")\s*(,|$)", re.I)
    for file in map(Path, model.files):
        if not file.is_file():
            continue
        lines, card = file.read_text(encoding="utf-8", errors="replace").splitlines(), None
        name = model.source if Path(model.source).resolve() == file.resolve() else str(file)
        for number, text in enumerate(lines, 1):
            if text.lstrip().startswith("*") and not text.lstrip().startswith("**"):
                card = (name, number, text) if wanted.match(text.lstrip()) else None
                first = first or card
            if card and word and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.I):
                return name, number, text
    return first or (model.source or "deck", 1, "")


class Writing:
    """What is said while a deck is written for a code: refusals, and notes on what differs there.

    code  its name;  can: feature -> the form it has there
    """

    def __init__(self, code: str, can: Mapping[str, str], model: Model) -> None:
        self.code, self.model = code, model
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        for feature in FEATURES:
            if feature.name not in can:
                for keyword, word in feature.found(model):
                    self.refuse(keyword, word, f"{feature.name}: {code} cannot express this", feature.hint)

    def refuse(self, keyword: str, word: str, message: str, hint: str = "") -> None:
        """One more reason why nothing is written."""
        file, line, text = line_of(self.model, keyword, word)
        self.problems.append(Problem(file, line, 1, message, text, hint))

    def note(self, text: str) -> None:
        """What differs in the code, said once."""
        if text not in self.notes:
            self.notes.append(text)

    def close(self) -> None:
        """DeckError: there are refusals."""
        if self.problems:
            raise DeckError(self.problems)
