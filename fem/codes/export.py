"""``fem export DECK --to calculix|opensees|moordyn|code_aster|abaqus``: files of a deck for another code; the features
that the deck needs, and the refusal of those that the code does not have.

``forms.csv`` lists the features that each code can express, with the form they take there; all others are refused, by
the line of the deck. It is the table of docs/other_codes.md.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from fem.arrays import Say
from fem.commands.files import write_new
from fem.deck import read_model
from fem.deck.sections import LISTED, OTHERS
from fem.errors import CommandError, DeckError, Problem, proposal
from fem.model import Buckle, Dynamic, Model, Static
from fem.model.mesh import BEAMS, TRUSSES


class Feature(NamedTuple):
    """One row of the table of codes: a test whether a model has the feature, its card, and a word in or below that."""

    name: str
    is_in: Callable[[Model], object]
    card: str
    word: str = ""
    hint: str = ""


def materials(model: Model) -> list[Any]:
    return [model.materials[section.material] for section in model.sections]


def any_step(name: str) -> Callable[[Model], object]:
    return lambda model: any(getattr(step, name) for step in model.steps)


def any_procedure(is_meant: Callable[[Any], object]) -> Callable[[Model], object]:
    return lambda model: any(is_meant(step.procedure) for step in model.steps)


def elements(*kinds: str) -> Callable[[Model], object]:
    return lambda model: any(block.kind in kinds for block in model.mesh.blocks)


def initial(*kinds: str) -> Callable[[Model], object]:
    return lambda model: any(each.kind in kinds and each.value for each in model.initial_conditions)


def rule(name: str) -> Callable[[Model], object]:
    return lambda model: any(section.mass_rule == name for section in model.sections)


def fluid(*kinds: str) -> Callable[[Model], object]:
    return lambda model: any(load.kind in kinds for step in model.steps for load in step.fluid_loads)


def has(*fields: str) -> Callable[[Model], object]:
    return lambda model: any(getattr(model, name) for name in fields)


FEATURES = tuple(Feature(*row) for row in (
    ("bars (T3D2, T2D2)", elements(*TRUSSES), "ELEMENT"),
    ("cables (NO COMPRESSION)", lambda m: any(one.compression_ratio != 1.0 for one in materials(m)), "NO COMPRESSION"),
    ("struts (NO TENSION)", lambda m: any(one.tension_ratio != 1.0 for one in materials(m)), "NO TENSION"),
    ("mass of bars: LUMPED", rule("LUMPED"), "SOLID SECTION"),
    ("mass of bars: CONSISTENT", rule("CONSISTENT"), "SOLID SECTION", "CONSISTENT", "use MASS=LUMPED"),
    ("mass of bars: ONE POINT", rule("ONE POINT"), "SOLID SECTION", "ONE POINT", "use MASS=LUMPED"),
    ("point masses (MASS)", elements("MASS"), "ELEMENT", "MASS"),
    ("rest lengths, laid lines", has("rest_lengths"), "REST LENGTH|NGEN|FORM FINDING", "",
     "give bars an initial stress"),
    ("initial stress", initial("STRESS"), "INITIAL CONDITIONS", "STRESS", "use a *REST LENGTH"),
    ("initial displacements", initial("DISPLACEMENT", "ANCHOR"), "INITIAL CONDITIONS", "DISPLACEMENT|ANCHOR",
     "move the nodes"),
    ("initial velocities", initial("VELOCITY"), "INITIAL CONDITIONS", "VELOCITY", "begin at rest"),
    ("damping BETA", lambda m: any(one.beta for one in materials(m)), "DAMPING", "BETA", "leave it out in both codes"),
    ("damping ALPHA", lambda m: any(one.alpha for one in (*materials(m), *m.masses)), "DAMPING|MASS", "ALPHA",
     "leave it out in both codes"),
    ("axial springs (SPRINGA)", elements("SPRINGA"), "ELEMENT", "SPRINGA", "use a cable without mass"),
    ("springs of dofs (SPRING1, SPRING2)", elements("SPRING1", "SPRING2"), "ELEMENT", "SPRING[12]", "use SPRINGA"),
    ("tables of springs", lambda m: any(one.table for one in m.springs), "SPRING", "NONLINEAR", "use one stiffness"),
    ("axial dashpots (DASHPOTA)", elements("DASHPOTA"), "ELEMENT", "DASHPOTA", "use BETA"),
    ("dashpots of dofs", elements("DASHPOT1", "DASHPOT2"), "ELEMENT", "DASHPOT[12]", "use DASHPOTA"),
    ("loads at nodes (CLOAD)", any_step("nodal_loads"), "CLOAD"),
    ("weight, body forces", any_step("distributed_loads"), "DLOAD"),
    ("moved supports", lambda m: any(b.value for step in m.steps for b in step.boundaries), "BOUNDARY"),
    ("static steps", any_procedure(lambda one: isinstance(one, Static)), "STATIC"),
    ("dynamic steps", any_procedure(lambda one: isinstance(one, Dynamic)), "DYNAMIC"),
    ("weight in water, drag, added mass", fluid("PB", "FDD", "FDT", "FI"), "DLOAD", "PB|FDD|FDT|FI"),
    ("current", lambda m: m.water and any(any(row[:3]) for row in m.water.current), "AQUA", "", "leave it out"),
    ("seabed", has("seabeds"), "SEABED", "", "hold the grounded nodes by *BOUNDARY"),
    ("slope or grid of the seabed, friction by direction",
     lambda m: any(bed.points or bed.slope or bed.axial != bed.lateral for bed in m.seabeds), "SEABED"),
    ("links (MPC), equations", has("links", "equations"), "MPC|EQUATION|TRANSFORM"),
    ("temperatures", any_step("temperatures"), "TEMPERATURE", "", "give bars an initial stress"),
    ("geometrically linear steps", lambda m: not all(step.nlgeom or step.buckling for step in m.steps), "STEP", "",
     "state NLGEOM"),
    ("linear buckling (BUCKLE)", any_procedure(lambda one: isinstance(one, Buckle)), "BUCKLE", "",
     "use *STATIC, RIKS"),
    ("modes, harmonic response", any_procedure(lambda one: not isinstance(one, Static | Dynamic | Buckle)),
     "FREQUENCY|STEADY STATE DYNAMICS"),
    ("arc length (RIKS), VISCO", any_procedure(lambda one: isinstance(one, Static) and (one.riks or one.creeps)),
     "STATIC|VISCO"),
    ("explicit steps", any_procedure(lambda one: getattr(one, "integrator", "") == "CENTRAL DIFFERENCE"), "DYNAMIC", "",
     "use TIME INTEGRATOR=NEWMARK"),
    ("rods and ropes (INEXTENSIBLE)", lambda m: any(one.is_inextensible for one in materials(m)), "INEXTENSIBLE", "",
     "use a high modulus"),
    ("laws with memory (UNIAXIAL, VISCOELASTIC)",
     lambda m: any(one.has_rope_law and not (one.plastic or one.buckling) for one in materials(m)),
     "UNIAXIAL|VISCOELASTIC|DYNAMIC STIFFNESS", "", "use *ELASTIC"),
    ("struts that buckle (BUCKLING STRENGTH)", lambda m: any(one.buckling for one in materials(m)),
     "BUCKLING STRENGTH", "", "use *ELASTIC"),
    ("bars that yield (PLASTIC)", lambda m: any(one.plastic for one in materials(m)), "PLASTIC", "", "use *ELASTIC"),
    ("back stresses (COMBINED, CYCLIC HARDENING)",
     lambda m: any(one.plastic and one.plastic.back for one in materials(m)), "PLASTIC", "COMBINED",
     "use HARDENING=KINEMATIC"),
    ("waves, wind", has("waves", "wind"), "WAVE|WIND"),
    ("drag laws, growth, vortices, nonstructural mass", has("drag_laws", "growths", "vortices", "nonstructural"),
     "DRAG LAW|MARINE GROWTH|VIV|NONSTRUCTURAL MASS"),
    ("ropes over pulleys, winches", lambda m: m.runs, "ELEMENT|WINCH", "PULLEY|WINCH"),
    ("failure, removal of elements", lambda m: m.failures or any(s.removals or s.shed or s.put for s in m.steps),
     "FAILURE|MODEL CHANGE"),
    ("lines that bend", lambda m: any(one.inertia and not one.torsion for one in m.sections), "ELEMENT",
     "|".join(BEAMS)),
    ("lines that bend and resist torsion", lambda m: m.may_twist, "ELEMENT", "|".join(BEAMS)),
    ("rigid bodies, stops, cylinders", has("bodies", "free_bodies", "inertias", "planes", "cylinders"),
     "RIGID BODY|ROTARY INERTIA|STOP PLANE|RIGID CYLINDER"),
    ("continued runs (RESTART, READ)", has("earlier"), "RESTART", "READ"),
    ("amplitudes set during the run (USER)", lambda m: any(one.definition == "USER" for one in m.amplitudes.values()),
     "AMPLITUDE", "USER"),
    ("registered keywords (fem.register)", has("others"), "", "", "leave them out"),
))  # fmt: skip


def registered() -> list[str]:
    """Keywords that ``fem.register`` has added."""
    return [name for name, form in LISTED.items() if form.into == OTHERS]


def line_of(model: Model, card: str, word: str) -> tuple[str, int, str]:
    """File, line and text where a word stands in or below a card (``ONE|OTHER``), else of the first such card.
    Line 1 of the deck where no file has the card."""
    first: tuple[str, int, str] | None = None
    wanted = re.compile(r"\s*\*\s*(" + card.replace(" ", r"\s*") + r")\s*(,|$)", re.I)
    inside = re.compile(rf"(?<!\w)({word})(?!\w)", re.I) if word else None
    for file in map(Path, model.files):
        name = model.source if Path(model.source).resolve() == file.resolve() else str(file)
        is_below = False
        for number, text in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if text.lstrip().startswith("*") and not text.lstrip().startswith("**"):
                is_below = bool(wanted.match(text))
            if is_below:
                first = first or (name, number, text)
                if inside is None or inside.search(text):
                    return name, number, text
    return first or (model.source or "deck", 1, "")


@cache
def forms_of(code: str) -> dict[str, str]:
    """Feature -> the form it has in a code; those that the code cannot express are missing."""
    with Path(__file__).with_name("forms.csv").open(newline="", encoding="utf-8") as file:
        return {row["feature"]: row[code] for row in csv.DictReader(file) if row[code]}


def stem_of(model: Model) -> str:
    """Beginning of all file names, which no program can mistake for an option, for several words or for code."""
    return re.sub(r"^(?=[-.])", "_", re.sub(r"[^\w.-]+", "_", Path(model.source or "model").stem))


def one_line(text: str) -> str:
    """Text of a comment, without line breaks and other characters that could end it."""
    return "".join(sign if sign.isprintable() else " " for sign in text).strip()


def comments(model: Model, *texts: str) -> list[str]:
    """Of a script in Python: heading of the deck and its file, then other texts. The first line says how to read it,
    else one of the deck's could."""
    heading = [one_line(text) for text in model.heading] or [stem_of(model)]
    origin = f"Written by fem export from {source_of(model)}; units are those of the deck."
    return [
        "# -*- coding: utf-8 -*-",
        *(f"# {text}".rstrip() for text in (*heading, "", origin, *map(one_line, texts))),
    ]


def source_of(model: Model) -> str:
    """The name of the deck, for comments."""
    return one_line(Path(model.source).name) or "a model"


class Writing:
    """Messages while a deck is written for a code: refusals, and notes on differences."""

    def __init__(self, code: str, model: Model) -> None:
        self.code, self.model = code, model
        can = forms_of(code)
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        for name, is_in, card, word, hint in FEATURES:
            if name not in can and is_in(model):
                self.refuse(card or "|".join(registered()), word, f"{name}: {code} cannot express this", hint)

    def refuse(self, card: str, word: str, message: str, hint: str = "") -> None:
        """One more reason why nothing is written."""
        file, line, text = line_of(self.model, card, word)
        self.problems.append(Problem(file, line, 1, message, text, hint))

    def note(self, text: str) -> None:
        """A difference in the code, noted once."""
        if (text := one_line(text)) not in self.notes:
            self.notes.append(text)

    def close(self) -> None:
        """DeckError: there are refusals."""
        if self.problems:
            raise DeckError(self.problems)


CODES = {
    "calculix": "CalculiX",
    "opensees": "OpenSees",
    "moordyn": "MoorDyn",
    "code_aster": "Code_Aster",
    "abaqus": "Abaqus",
}
"""Module of this package -> name of the code."""


def module_of(code: str) -> Any:
    """The module that writes for a code. CommandError: there is no such code."""
    if code not in CODES:
        raise CommandError(f"there is no code {code!r}; {proposal(code, CODES)}")
    return import_module(f"fem.codes.{code}")


def files_for(code: str, model: Model, **options: Any) -> tuple[dict[str, str], list[str]]:
    """Name -> text of the files, and notes on what differs. DeckError: what the code cannot express, line by line."""
    texts, notes = module_of(code).files_of(replace(model, heading=tuple(map(one_line, model.heading))), **options)
    for suffix, text in texts.items():
        check_text(suffix, text)
    return {f"{stem_of(model)}{suffix}": text for suffix, text in texts.items()}, notes


PYTHON = (".py", ".comm")


def check_text(suffix: str, text: str) -> None:
    """CommandError, before anything is written: a script is not valid Python, or a text from the deck breaks a line."""
    try:
        if suffix.endswith(PYTHON):
            ast.parse(text.encode())
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"nothing was written: the script {suffix} would not be Python ({error})") from error
    if odd := next((sign for sign in text if not sign.isprintable() and sign != "\n"), ""):
        raise CommandError(f"nothing was written: {suffix} would contain {odd!r}, from a name in the deck: rename it")


def export_deck(
    deck: str | Path | Model,
    to: str,
    folder: str | Path = ".",
    parameters: Mapping[str, float] | None = None,
    force: bool = False,
    say: Say = lambda text: None,
) -> list[Path]:
    """Write a deck for another code, and return the paths of the files.

    deck    path of the ``.inp``, or a ``Model``
    to      calculix, opensees, moordyn, code_aster, abaqus
    folder  of the files, whose names begin with that of the deck
    parameters  values that override the deck's ``*PARAMETER``
    force   overwrite files with other content
    say     receives notes on differences

    Raises
    ------
    DeckError     features that the code does not have, each with its line of the deck
    CommandError  a file exists and holds something else; no such code

    >>> [path.name for path in fem.export_deck("inputs/sdnl100.inp", "opensees", "exported")]
    ['sdnl100_opensees.py']
    """
    files, notes = files_for(to, read_model(deck, parameters))
    for note in notes:
        say(f"note: {note}")
    found = [write_new(Path(folder) / name, text.encode(), force) for name, text in files.items()]
    for path in found:
        say(f"wrote {path}")
    return found


def export(
    deck: Path, to: str, input: str, input_order: str, output: str, file: Path | None, fmi: int, parameters: Any,
    force: bool, say: Say,
) -> None:  # fmt: skip
    """``fem export DECK --to CODE``; options of units for co-simulation have no meaning here."""
    has_order = input_order != "linear"
    of_units = ("--input", input), ("--input-order", has_order), ("--output", output), ("--fmi", fmi != 3)
    for name, given in of_units:
        if given:
            raise CommandError(f"{name} is for --to fmu; --file FOLDER/ names the folder of the files")
    export_deck(deck, to, file or Path(), dict(parameters), force, say)
