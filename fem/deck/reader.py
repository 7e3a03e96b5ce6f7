"""The order of reading: bytes to cards, mesh cards first, then all others; the draft becomes a Model, or a DeckError.

Keywords of Abaqus and CalculiX that are not ours get an answer here: planned, not supported, or without effect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import fem.deck.conditions as conditions
import fem.deck.mesh_include  # noqa: F401  (for its keyword)
import fem.deck.steps as steps
from fem.deck.beams import check_beams, check_twists, put_beside, straighten, turn_clamps
from fem.deck.cards import Card
from fem.deck.draft import EMPTY, Draft, MaterialDraft, StepDraft, as_given
from fem.deck.fluids import check_fluids
from fem.deck.forms import found_form
from fem.deck.free_bodies import release
from fem.deck.loads import check_winches
from fem.deck.lookup import Lookup, build_mesh, check_uses
from fem.deck.materials import blame_rope_laws, build_materials
from fem.deck.mesh import FIRST, SECOND
from fem.deck.parameters import Course
from fem.deck.parts import read_instances, sorted_cards, with_final_labels
from fem.deck.scanner import DeckFiles, Scanner
from fem.deck.sections import build_properties
from fem.deck.source import Mistake, Place, Source, did_you_mean, nearest, shown, squeezed, words
from fem.deck.steps import close_step
from fem.deck.surfaces import build_cylinders, build_planes, build_seabeds
from fem.deck.table import KEYWORDS, Handler
from fem.deck.waves import check_vessels
from fem.errors import CommandError, DeckError, proposal
from fem.model import BarSection, Dashpot, Mesh, Model, PointMass, RotaryInertia, Spring
from fem.model.notices import coarse_beams

EarlierDecks: TypeAlias = Sequence[tuple[Path, Mapping[str, float]]]
"""The decks of earlier runs, the last one first, and their parameters by name in upper case."""
PROCEDURES = ("STATIC", "VISCO", "DYNAMIC", "FREQUENCY", "BUCKLE", "STEADY STATE DYNAMICS")
MESH = {"NODE", "ELEMENT"}
MAX_GUESSES = 50
SURE = 0.75


def read_file(
    path: str | Path | Model, overrides: Mapping[str, float],
    stored: dict[Path, bytes] | None = None, course: Course | None = None, earlier: EarlierDecks = (),
) -> Model:  # fmt: skip
    """A deck from a file, or from the text of a model; ``stored`` keeps the text of the files for the next time.
    ``overrides`` by name in upper case (``checked_overrides``); those that are traced belong to ``course``."""
    files = DeckFiles(stored)
    if isinstance(path, Model):
        source, overrides = files.open_text(checked_text(path), path.source, None), {**path.given, **overrides}
        model = read_source(files, source, overrides, course, earlier)
        return replace(model, text=path.text, given={} if course else overrides)
    try:
        source = files.open_deck(Path(path))
    except Mistake as mistake:
        raise DeckError([mistake.problem()]) from None
    return read_source(files, source, overrides, course, earlier)


def checked_text(model: Model) -> str:
    """The text of a model. CommandError: it has a file instead."""
    if not model.text:
        what = "a deck given by its path, or of a Model without a file (fem.Builder, fem.parse_deck)"
        raise CommandError(f"parameters can only be set in the text of {what}; this Model was read from a file")
    return model.text


def read_source(
    files: DeckFiles, source: Source, overrides: Mapping[str, float],
    course: Course | None = None, earlier: EarlierDecks = (),
) -> Model:  # fmt: skip
    draft = Draft()
    scanner = Scanner(files, draft.report, overrides, course or Course(), names_of())
    scanner.scan(source)
    scanner.close()
    if scanner.remarks:
        where = f"{scanner.remarks}, the first {scanner.first_remark}"
        draft.notice(f"lines with a blank after one asterisk are comments: {where}")
    unused = [name for name in scanner.overrides if name not in scanner.values]
    if unused and not draft.mistakes:  # mistakes of the deck are reported first
        hint = proposal(unused[0], scanner.spellings.values())
        raise CommandError(f"the deck has no *PARAMETER {shown(unused[0])[1:-1]}; {hint}")
    names = {squeezed(card.keyword) for card in scanner.cards}
    asked = earlier if "RESTART" in names else ()
    before, opening = earlier_cards(asked, files, draft)
    if not MESH & names:  # only steps, as in a restart of Abaqus and CalculiX
        scanner.cards[:0] = before
    named = sorted_cards(spelt(scanner), draft, lambda card: answer(card, draft))
    instances = read_instances(draft, read_cards)
    read_cards([replace(card, instances=instances) for card in named] if instances else named, draft)
    apart = Draft()  # for the first step of the first run
    apart.water, apart.wind, apart.drag_laws = draft.water, draft.wind, draft.drag_laws
    read_cards([replace(card, instances=instances) for card in opening], apart)
    if draft.step is not None:
        draft.report(Mistake(draft.step.place, "the step is not closed by *END STEP"))
        close_step(draft)
    draft.first_step = next(iter([*apart.steps, *draft.steps]), None)
    texts = ((n, source.lines[n - 1].strip()) for n in range(len(source.lines), 0, -1))
    last = next((n for n, text in texts if text and not text.startswith("**")), 1)
    model = with_final_labels(build_model(draft, Place(source, last, 1)), draft)
    values = {scanner.spellings[name]: value for name, value in scanner.values.items()}
    ignored = ["accepted but ignored: " + ", ".join(draft.ignored)] if draft.ignored else []
    return replace(
        model,
        parameters=values,
        source=source.name,
        digest=files.digest(),
        files=tuple(map(str, files.paths)),
        notices=(*draft.notices, *ignored, *filter(None, [coarse_beams(model)])),
        extensions=tuple(draft.extensions),
    )


def earlier_cards(earlier: EarlierDecks, files: DeckFiles, draft: Draft) -> tuple[list[Card], list[Card]]:
    """Cards before the first step of the last earlier deck that has a mesh, and of the decks after it (none if no deck
    has one); and the first step of the first deck. The files of all of them belong to the new deck, too: they
    are part of its hash and are never overwritten."""
    found, opening = list[Card](), list[Card]()
    has_mesh = False
    for path, parameters in earlier:
        scanner = Scanner(files, draft.report, parameters, Course(), names_of())
        try:
            scanner.scan(files.open_deck(path))
        except Mistake:
            break
        scanner.close()
        cards = spelt(scanner)
        names = [card.keyword for card in cards]
        start = names.index("STEP") if "STEP" in names else len(names)
        opening = cards[start : names.index("END STEP") + 1 if "END STEP" in names else None]
        if not has_mesh:
            sets = [card for card in cards[start:] if card.keyword in ("NSET", "ELSET")]
            draft.earlier_writes = any(card.keyword == "RESTART" and card.has("WRITE") for card in cards)
            found[:0] = [card for card in cards[:start] if card.keyword not in ("HEADING", "RESTART")] + sets
        has_mesh = has_mesh or not MESH.isdisjoint(names)
    return found, opening


def spelt(scanner: Scanner) -> list[Card]:
    """Cards with the names of keywords in the spelling of ``KEYWORDS``."""
    named = ((card, scanner.keywords.get(squeezed(card.keyword), card.keyword)) for card in scanner.cards)
    return [card if name == card.keyword else replace(card, keyword=name) for card, name in named]


def read_cards(named: list[Card], draft: Draft) -> None:
    inside: list[Card | None] = []  # the step that contains each card
    step: Card | None = None
    for card in named:
        step = card if card.keyword == "STEP" else None if card.keyword == "END STEP" else step
        inside.append(step)
    meant = meanings(named)
    for group in (FIRST, SECOND):
        for card, step, keyword in zip(named, inside, meant, strict=True):
            if keyword in group and (step is None or keyword in ("NSET", "ELSET")):
                answer(card, draft, keyword)
    for card, step, keyword in zip(named, inside, meant, strict=True):
        if card.keyword in ("", "PARAMETER"):
            continue
        if keyword in (*FIRST, *SECOND) and (step is None or keyword in ("NSET", "ELSET")):
            draft.material = None
        else:
            answer(card, draft, keyword)


def meanings(cards: Sequence[Card]) -> list[str]:
    """The keyword of each card; of a misspelt one the most similar keyword, or an empty text."""
    likely, guesses, found = (*KEYWORDS, *FOREIGN, "PARAMETER"), 0, list[str]()
    known = {*likely, ""}
    for card in cards:
        keyword = card.keyword
        if keyword not in known:
            guesses += 1
            word = bare(keyword)
            keyword = (nearest(word, likely, SURE) if word and guesses <= MAX_GUESSES else None) or ""
        found.append(keyword)
    return found


def bare(keyword: str) -> str:
    """The keyword up to a wrong separator."""
    return re.split("[;:=]", keyword)[0].strip()


def answer(card: Card, draft: Draft, meant: str = "") -> None:
    if card.keyword in KEYWORDS:
        call(card, draft, KEYWORDS[card.keyword].read)
    elif card.keyword in FOREIGN:
        call(card, draft, answer_foreign)
    else:
        answer_unknown(card, draft, meant)


def names_of() -> dict[str, str]:
    """All keywords with a handler or an answer, by name without blanks."""
    return {squeezed(name): name for name in (*KEYWORDS, "PARAMETER", *FOREIGN)}


def call(card: Card, draft: Draft, handler: Handler) -> None:
    """Reads one card; after a mistake the draft is left in a state in which the next cards can be read."""
    draft.card = card
    before, muted = len(draft.mistakes), draft.muted
    if card.broken:
        draft.failed.add(card.keyword)
        draft.muted = True
    with draft.guard():
        handler(card, draft)
    if len(draft.mistakes) > before or draft.muted:
        recover(card, draft)
    draft.card, draft.muted = None, muted


def recover(card: Card, draft: Draft) -> None:
    """Opens or closes what the card was to open or close."""
    if card.keyword == "MATERIAL" and draft.material is None:
        draft.material = MaterialDraft("", card.place)
    elif card.keyword == "STEP" and draft.step is None:
        draft.step = StepDraft(card.place, draft.nlgeom)
    elif card.keyword in ("END STEP", *PROCEDURES) and draft.step is not None:
        draft.step.blamed = True
        if card.keyword == "END STEP":
            close_step(draft)
    if draft.material is not None:
        draft.material.broken = True


def answer_unknown(card: Card, draft: Draft, meant: str) -> None:
    """Reports a misspelt keyword, then reads the card as the most similar one, silently, to avoid consequences."""
    known = (*KEYWORDS, "PARAMETER", *HARMLESS)
    hint = did_you_mean(bare(card.keyword) or card.keyword, known, prefix="*")
    draft.report(card.mistake(f"unknown keyword *{shown(card.keyword)[1:-1]}", hint))
    if draft.step is not None:
        draft.step.blamed = True
    if draft.material is not None:
        draft.material.broken = True
    draft.failed.update({meant} & {*KEYWORDS, "PARAMETER"})
    if meant not in KEYWORDS:
        return
    muted, draft.muted = draft.muted, True
    call(replace(card, keyword=meant), draft, KEYWORDS[meant].read)
    draft.muted = muted


PLANNED = ("KINEMATIC COUPLING",)
HARMLESS = words("""
    PREPRINT, FILE FORMAT, ENERGY FILE, NODE RESPONSE, PRINT, MONITOR, FILE OUTPUT, SYSTEM OF UNITS,
    DIAGNOSTICS, SECTION PRINT, SECTION FILE, CONTACT OUTPUT, CONTACT PRINT, CONTACT FILE, RADIATION OUTPUT,
    INCREMENTATION OUTPUT, MODAL OUTPUT, MODAL FILE, MODAL PRINT, ELEMENT MATRIX OUTPUT, DATA CHECK, NO PRINT,
    SUBMODEL OUTPUT, USER OUTPUT VARIABLES, USER OUTPUT, ORIENTATION, SECTION CONTROLS, HOURGLASS STIFFNESS,
    CONDUCTIVITY, SPECIFIC HEAT, NODAL THICKNESS, PHYSICAL CONSTANTS, SYSTEM
""")
OTHER_PROCEDURES = words("""
    HEAT TRANSFER, UNCOUPLED TEMPERATURE-DISPLACEMENT, COUPLED TEMPERATURE-DISPLACEMENT, MODAL DYNAMIC,
    COMPLEX FREQUENCY, RANDOM RESPONSE, RESPONSE SPECTRUM, ELECTROMAGNETICS, CFD,
    GREEN, SENSITIVITY, CRACK PROPAGATION, SUBSTRUCTURE GENERATE, GEOSTATIC, SOILS, ANNEAL, MASS DIFFUSION,
    PIEZOELECTRIC, ELECTRICAL, THERMAL ELECTRICAL, DIRECT CYCLIC, STEADY STATE TRANSPORT
""")
OTHER_SECTIONS = words("""
    SHELL SECTION, SHELL GENERAL SECTION, MEMBRANE SECTION, GASKET SECTION, FRAME SECTION,
    COHESIVE SECTION, FLUID SECTION, FLUID PIPE SECTION, USER ELEMENT, UEL PROPERTY, JOINT,
    SURFACE SECTION, REBAR LAYER, REBAR, ACOUSTIC INFINITE, SUPERELEMENT, GAP,
    CONNECTOR DAMPING, CONNECTOR CONSTITUTIVE REFERENCE, CONNECTOR FRICTION, CONNECTOR STOP, CONNECTOR LOCK,
    CONNECTOR PLASTICITY, CONNECTOR FAILURE,  CONNECTOR MOTION, CONNECTOR LOAD, EULERIAN SECTION, DISCRETE SECTION,
    INTERFACE, MEMBRANE, SUBSTRUCTURE PROPERTY
""")
OTHERS = words("""
    SURFACE, SURFACE INTERACTION, SURFACE BEHAVIOR, SURFACE PROPERTY, CONTACT, CONTACT PAIR, CONTACT INCLUSIONS,
    CONTACT DAMPING, CONTACT PROPERTY ASSIGNMENT, CONTACT CONTROLS, CONTACT CLEARANCE, CONTACT INITIALIZATION DATA,
    CONTACT FORMULATION, CLEARANCE, FRICTION, CHANGE FRICTION, GAP CONDUCTANCE, GAP HEAT GENERATION, TIE, CYCLIC
    SYMMETRY MODEL, SELECT CYCLIC SYMMETRY MODES, COUPLING, DISTRIBUTING, DISTRIBUTING COUPLING, DISTRIBUTION,
    DISTRIBUTION TABLE, KINEMATIC, EMBEDDED ELEMENT, SHELL TO SOLID COUPLING, FASTENER, MASTER, NORMAL,
    TRANSVERSE SHEAR STIFFNESS, NCOPY, NMAP, ELCOPY, NODAL COORDINATES, PRE-TENSION SECTION, PRETENSION SECTION,
    ACOUSTIC, IMPERFECTION, SUBMODEL, MATRIX ASSEMBLE, MATRIX INPUT, MATRIX GENERATE, CREEP,
    HYPERELASTIC, HYPERFOAM, HYPOELASTIC, RATE DEPENDENT, DEFORMATION PLASTICITY, MOHR COULOMB,
    MOHR COULOMB HARDENING, DRUCKER PRAGER, CONCRETE, CAP PLASTICITY, CAST IRON PLASTICITY, CRUSHABLE FOAM, DEPVAR,
    USER MATERIAL, COMPRESSION ONLY, SPECIFIC GAS CONSTANT, FLUID CONSTANTS, MAGNETIC PERMEABILITY, ELECTRICAL
    CONDUCTIVITY, PERMEABILITY, LATENT HEAT, INELASTIC HEAT FRACTION, FAIL STRAIN, FAIL STRESS, DAMAGE INITIATION,
    DAMAGE EVOLUTION, POROUS ELASTIC, SWELLING, POTENTIAL, MULLINS EFFECT, SHEAR FAILURE, TENSILE FAILURE, EOS,
    FIELD, VALUES AT INFINITY, RIGID SURFACE, INERTIA RELIEF, BASE MOTION, GLOBAL DAMPING, STRUCTURAL
    DAMPING, DSLOAD, DSFLUX, DFLUX, CFLUX, FILM, SFILM, RADIATE, SRADIATE, VIEWFACTOR, MASS FLOW, PRESSURE STRESS,
    RELEASE, DISPLACEMENT, VELOCITY, INCIDENT WAVE, FOUNDATION, ADJUST, DISPLAY BODY, CONSTRAINT, OBJECTIVE, DESIGN
    VARIABLES, DESIGN RESPONSE, FILTER, GEOMETRIC TOLERANCE, STIFFNESS RANDOM FIELD, CORRELATION LENGTH, ROBUST
    DESIGN, RANDOM FIELD, FEASIBLE DIRECTION, MAP, MESH, CO-SIMULATION, CO-SIMULATION REGION, IMPORT, IMPORT ELSET,
    IMPORT NSET, IMPORT CONTROLS, TRACER PARTICLE, INTEGRATED OUTPUT SECTION, BULK VISCOSITY, FIXED MASS SCALING,
    VARIABLE MASS SCALING, ADAPTIVE MESH, SOLVER CONTROLS, UMAT, USER DEFINED FIELD, VISCOUS, ANISOTROPIC
    HYPERELASTIC, ELECTROMAGNETICS MODEL
""")
TABLE_LAWS = ("HYPERELASTIC", "HYPERFOAM", "HYPOELASTIC", "MULLINS EFFECT", "DEFORMATION PLASTICITY")
TOUCHING = (
    *(name for name in OTHERS if name.startswith(("CONTACT", "SURFACE"))),
    "CLEARANCE",
    "FRICTION",
    "RIGID SURFACE",
)
BREAKING = ("FAIL STRAIN", "FAIL STRESS", "DAMAGE INITIATION", "DAMAGE EVOLUTION", "SHEAR FAILURE", "TENSILE FAILURE")
ALTERNATIVES = {
    "DSLOAD": "loads are given by *CLOAD and *DLOAD",
    "COMPRESSION ONLY": "*NO TENSION is",
    "GLOBAL DAMPING": "damping is given by *DAMPING inside a *MATERIAL",
    "COUPLING": "*EQUATION ties dofs",
    "TIE": "*EQUATION ties dofs; let elements share their nodes",
    "CONNECTOR DAMPING": "DASHPOTA elements beside the springs are dampers",
    "CONNECTOR CONSTITUTIVE REFERENCE": "springs are at rest as drawn; bars with *REST LENGTH need not be",
    "GAP": "model a gap by a bar with *NO TENSION or by a nonlinear *SPRING",
    "NCOPY": "*NGEN and *NFILL generate nodes",
    "ELCOPY": "*ELGEN generates elements",
    "MASTER": "*EQUATION ties dofs",
    "RELEASE": "nodes have no rotations: without dofs 4 to 6 the end of a line is hinged, and with the two of them "
    "that are not about its axis it is a swivel, free to spin",
    "SYSTEM": "nodes are given in the global axes",
    **dict.fromkeys(TABLE_LAWS, "*UNIAXIAL with *LOADING DATA is a table of stress over strain"),
    **dict.fromkeys(("CREEP", "SWELLING"), "*VISCOELASTIC, TIME= is a series for creep or relaxation"),
    **dict.fromkeys(TOUCHING, "*SEABED, *RIGID CYLINDER and *STOP PLANE are surfaces that nodes and bars touch"),
    **dict.fromkeys(BREAKING, "*FAILURE breaks bars at a force or strain"),
    **dict.fromkeys(("PRE-TENSION SECTION", "PRETENSION SECTION"), "*REST LENGTH, or *INITIAL CONDITIONS, TYPE=STRESS"),
    **dict.fromkeys(
        ("KINEMATIC", "DISTRIBUTING", "DISTRIBUTING COUPLING"), "*RIGID BODY, PIN NSET= moves nodes as one"
    ),
    "MODAL DYNAMIC": "*DYNAMIC integrates the whole motion; *STEADY STATE DYNAMICS, DIRECT gives harmonic motion",
    "IMPERFECTION": "move the nodes, or give *INITIAL CONDITIONS, TYPE=DISPLACEMENT",
    "BASE MOTION": "supports are moved by *BOUNDARY, AMPLITUDE=",
}
CARRIED = "supported are T3D2, T2D2, B31, springs, dashpots and masses with *SOLID SECTION, *BEAM GENERAL SECTION, "
CARRIED += "*BEAM SECTION, *SPRING, *DASHPOT, *MASS"
STEPS_CARRIED = "supported are *STATIC, *VISCO, *DYNAMIC, *FREQUENCY and *STEADY STATE DYNAMICS"
FOREIGN = (*PLANNED, *HARMLESS, *OTHER_PROCEDURES, *OTHER_SECTIONS, *OTHERS)


def answer_foreign(card: Card, draft: Draft) -> None:
    name = card.keyword
    if name in HARMLESS and (name != "SYSTEM" or not any(card.rows)):
        draft.ignore(f"*{name}")
        return
    if draft.step is not None:
        draft.step.blamed = True
    draft.failed.update(("ELEMENT", "PROPERTY") if name in OTHER_SECTIONS else ())
    if name in PLANNED:
        raise card.mistake(f"*{name} is planned, not yet supported")
    hint = ALTERNATIVES.get(name, STEPS_CARRIED if name in OTHER_PROCEDURES else CARRIED)
    raise card.mistake(f"*{name} is not supported", hint)


OF_ELEMENTS: dict[str, Any] = {"sections": BarSection, "springs": Spring, "dashpots": Dashpot, "masses": PointMass}
OF_ELEMENTS["inertias"] = RotaryInertia
"""Fields of the model with properties of elements, and what these are."""


def build_model(draft: Draft, end: Place) -> Model:
    """Resolves all names and checks the whole; ``end``: last line of the deck, the place of what is missing."""
    if draft.catenaries:
        from fem.deck.catenary import lay_lines

        lay_lines(draft)
    draft.card = None
    release(draft)
    mesh = build_mesh(draft)
    nodes, elements = Lookup(mesh.node_labels, mesh.node_sets), Lookup(mesh.element_labels, mesh.element_sets)
    check_uses(draft)
    straighten(draft, mesh)
    found, built = build_properties(draft, mesh), dict[str, Any]()
    for name, kind in OF_ELEMENTS.items():
        built[name] = tuple(entry for entry in found if isinstance(entry, kind))
    used = {section.material for section in built["sections"]}
    built["materials"] = materials = build_materials(draft, used)
    of_bars = [material for name, material in materials.items() if name in used]
    steps.blame_steps_without_ropes(draft, of_bars)
    steps.blame_perturbations(draft, of_bars, built["springs"])
    blame_rope_laws(draft, of_bars)
    steps.blame_short_files(draft)
    steps.blame_integrals(draft)
    built["equations"] = equations = conditions.build_equations(draft, mesh, nodes)
    built["links"] = links = conditions.build_links(draft, mesh, nodes)
    conditions.check_supports(draft, mesh, nodes)
    built["bodies"] = bodies = conditions.build_bodies(draft, mesh, nodes)
    check_beams(draft, mesh)
    conditions.turn_stresses(draft, mesh, elements)
    conditions.check_kinds(draft, mesh, elements)
    check_winches(draft, mesh, elements, materials)
    conditions.check_masses(draft)
    conditions.check_removals(draft, mesh, elements)
    check_fluids(draft, mesh)
    check_vessels(draft, bodies)
    built["seabeds"], built["cylinders"] = build_seabeds(draft, mesh), build_cylinders(draft, mesh)
    built["planes"] = planes = build_planes(draft, mesh, nodes)
    if not draft.mistakes:
        blame_missing(draft, mesh, end)
    draft.raise_problems()
    coupled = {term[0] for equation in equations for term in equation.terms} | {node for pair in links for node in pair}
    references = [*(body.node for body in bodies), *(plane.node for plane in planes)]
    coupled |= {int(mesh.nodes_of(node)[0]) for node in references}
    idle = np.ones(len(mesh.node_labels), dtype=bool)
    for block in mesh.blocks:
        idle[block.connectivity] = False
    idle[list(coupled)] = False
    count = int(idle.sum())
    if count:
        label = draft.as_written(mesh.node_labels[idle][0])
        draft.notice(f"{count} node{'s' * (count > 1)} belong{'s' * (count == 1)} to no element, the first is {label}")
    built |= {"steps": tuple(map(steps.build_step, draft.steps)), "laid": tuple(draft.laid)}
    model = Model(mesh, **as_given(draft, EMPTY.keys() - built.keys()), **built)
    if draft.forms:
        model = found_form(draft, model)
        draft.raise_problems()
    axes = {node: turned for name, turned in draft.axes for node in mesh.node_sets[name].tolist()}
    if axes:
        first, other = mesh.node_labels[min(axes)], mesh.node_labels.max() + 1
        more = ", and so on" if len(axes) > 1 else ""
        draft.notice(f"*TRANSFORM: U, V, A and RF of node {first} in its axes are those of node {other}{more}")
    try:
        model = put_beside(turn_clamps(conditions.in_axes(model, axes)))
        check_twists(draft, model)
        draft.raise_problems()
        return model
    except ValueError as error:
        draft.report(Mistake(draft.free_bodies[0][1].place, str(error), "PIN NSET makes it a hinge"))
        draft.raise_problems()
        raise


def blame_missing(draft: Draft, mesh: Mesh, end: Place) -> None:
    hint = "fem run DECK --from FOLDER takes the model from the deck of the earlier run, if it still exists; else "
    hint = "" if draft.earlier is None else hint + "*INCLUDE it"
    parts = {"*NODE": len(mesh.node_labels), "*ELEMENT": len(mesh.blocks)}
    parts["*STEP: there is nothing to solve"] = len(draft.steps)
    for name, there in parts.items():
        if not there:
            draft.report(Mistake(end, f"the deck has no {name}", hint))
            return
