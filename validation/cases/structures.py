"""Tensegrities, nets, domes and bars that yield: published forces, forms, prestress, buckling, limit loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import structures

NAME = "structures"
TITLE = "structures of bars and cables: forces, form, prestress, buckling, yielding"
SOURCE = (
    "TsgFEM, CTSFEM and MusclePy on tensegrities; Jayaraman and Knudson 1981; Ansys VM53; the dome of Levy "
    "and Spillers; von Mises' two bars; Connelly, Guest, Feron on prestress; Schek's force densities; OpenSees on bars "
    "that yield. Decks and numbers: validation/structures, with the source of each in targets.json."
)
LONG = False

DECKS = Path(__file__).resolve().parents[1] / "structures"
GIVEN = json.loads((DECKS / "targets.json").read_text())
FORCES = {"tsg_tower": 1e-9, "tsg_half_tbar": 2e-9, "tsg_dbar": 2e-9, "dbar_winch": 2e-9, "simplex_shortened": 2e-8,
          "three_cables": 1e-8, "cts_prism": 3e-7}  # fmt: skip
"""Forces, as a fraction of the largest."""
PLACES = {"tsg_tower": 1e-8, "tsg_half_tbar": 1e-9, "star_dome_linear": 1e-9, "three_cables": 2e-8, "cts_prism": 1e-8}
"""Displacements [length]."""
FACTORS = ("star_dome_buckle", "von_mises_preloaded_buckle_engineering", "von_mises_preloaded_buckle_green")
COUNTS = {"tsg_tower_modes": (2, 2, 0), "tsg_half_tbar": (1, 0, 0), "tsg_dbar": (1, 0, 1), "star_dome_riks": (3, 0, 0)}
"""States of self-stress, mechanisms, rigid motions: an independent calculation (numpy)."""
STRAINS = ("GREEN", "ENGINEERING")
PRELOADS = np.array([0.0, 100.0, 200.0, 300.0, 350.0, 370.0, 378.0, 379.19])
HEAD = "*ELEMENT, TYPE=T3D2, ELSET=ALL\n{bars}*MATERIAL, NAME=M\n*ELASTIC\n1e6\n"
SECTION = "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n1.\n*BOUNDARY\n"
VERTICALS = "*ELEMENT, TYPE=T3D2, ELSET=G3\n"
VERTICAL = "*MATERIAL, NAME=M3\n*ELASTIC\n72190\n*NO COMPRESSION\n*SOLID SECTION, ELSET=G3, MATERIAL=M3\n50.3\n"
COMBINED = """*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS
250., 30e3, 300.
*CYCLIC HARDENING, PARAMETERS
250., 60., 8.
"""
STATIC = "*STEP, NLGEOM\n*STATIC\n1., 1.\n{loads}*END STEP\n"


def run(folder: Path) -> Outcome:
    """All of them, each in a moment."""
    histories = {name: fem.run(DECKS / f"{name}.inp") for name in (*FORCES, *PLACES)}
    rows = [*forces(histories), *motions(), *prestress(), *forms()]
    paths = {strain: limit_of("star_dome_riks", strain) for strain in STRAINS}
    buckled, sums = buckling()
    rows += [*limits(paths), *buckled]
    loops = {name: fem.run(DECKS / f"three_bars_{name}.inp") for name in ("isotropic", "kinematic")}
    rows += yielding(loops)
    return Outcome(tuple(rows), {"paths": drawn_paths(paths["GREEN"][1], sums), "loops": drawn_loops(loops)})


def target(name: str, value: float, kind: str, source: str, tolerance: float, computed: float) -> Row:
    return Row(Target(name, float(value), kind, source, tolerance), float(computed))


def forces(histories: dict[str, Any]) -> list[Row]:
    """Largest errors of forces and displacements."""
    rows = []
    for name, tolerance in FORCES.items():
        its, given = histories[name], np.array(GIVEN[name]["T"])
        order = np.argsort(its.model.mesh.element_labels)[: len(given)]
        miss = np.abs(its.elements[-1, order, 3] - given).max() / np.abs(given).max()
        what = f"{name}: largest error of a force over the largest force"
        rows.append(target(what, 0.0, "absolute", f"published: {GIVEN[name]['source']}; its digits", tolerance, miss))
    for name, tolerance in PLACES.items():
        its = histories[name]
        miss = max(np.abs(its.of_node(int(label))[-1] - u).max() for label, u in GIVEN[name]["u"].items())
        what = f"{name}: largest error of a displacement"
        rows.append(target(what, 0.0, "absolute", f"published: {GIVEN[name]['source']}; its digits", tolerance, miss))
    its, given = histories["simplex_shortened"], GIVEN["simplex_shortened"]
    miss = max(np.abs(its.positions(int(label))[-1] - x).max() for label, x in given["x"].items())
    rows.append(
        target("simplex_shortened: largest error of a position [mm]", 0.0, "absolute", given["source"], 1e-6, miss)
    )
    cable, given = fem.run(DECKS / "isolated_cable.inp"), GIVEN["isolated_cable"]
    first, second = (cable.of_node(17)[tools.end_of(cable, step)] for step in (1, 2))
    for axis, exact in ((0, -0.859359799), (2, -5.625584578)):
        why = f"{given['source']}; 40 bars are 2e-3 off the elastic catenary"
        what = f"isolated cable: displacement {'x z'[axis]} of node 17 by the second load [m]"
        rows.append(target(what, exact, "relative", why, 2e-3, (second - first)[axis]))
        why = "regression: this mesh, an independent calculation of the same bars"
        rows.append(target(f"{what}, of 40 bars", given["step2_minus_step1"]["17"][axis], "relative", why, 1e-7,
                           (second - first)[axis]))  # fmt: skip
    return rows


def motions() -> list[Row]:
    """Natural frequencies of a tower and of a string."""
    rows = []
    for name, tolerance in (("tsg_tower_modes", 1e-8), ("vm53_string", 1e-8)):
        found = np.abs(fem.run(DECKS / f"{name}.inp").modes[-1].frequency)
        for k, given in enumerate(GIVEN[name]["hz"]):
            why = f"published: {GIVEN[name]['source']}; its digits"
            rows.append(target(f"{name}: frequency {k + 1} [Hz]", given, "relative", why, tolerance, found[k]))
    why = "analytic: continuous string; its first three modes with 104 bars"
    for k, exact in enumerate((74.70682425, 149.4136485, 224.1204727)):
        rows.append(target(f"string: frequency {k + 1} [Hz]", exact, "relative", why, 5e-4, found[k]))
    return rows


def prestress() -> list[Row]:
    """Counts of Maxwell and Calladine, and the stiffness that prestress gives a prism."""
    rows = []
    for name, counts in COUNTS.items():
        found = fem.rigidity(DECKS / f"{name}.inp").sizes
        for what, given, its in zip(
            ("states of self-stress", "mechanisms", "rigid motions"), counts, found, strict=True
        ):
            rows.append(target(f"{name}: {what}", given, "exact", "independent calculation of the ranks", 0.0, its))
    prism = fem.rigidity(tools.deck("tensegrity_prism"))
    why = "closed form: prestress on the twist; the deck has twelve digits"
    rows.append(target("prism: K_G of its mechanism [N/m]", structures.twist_stiffness(2000.0), "relative", why, 1e-9,
                       prism.stiffness[0]))  # fmt: skip
    why = "Connelly and Terrell 1995: 1 if super-stable"
    rows.append(target("prism: verdict", 1.0, "exact", why, 0.0, prism.verdict == "super-stable"))
    # as drawn, and verticals have a modulus of their own
    text = (DECKS / "simplex_shortened.inp").read_text().replace("10, 3, 6", f"{VERTICALS}10, 3, 6", 1)
    simplex = fem.rigidity(fem.parse_deck(text[: text.index("*REST")] + VERTICAL + text[text.index("*BOUNDARY") :]))
    why = "published: Feron and others 2023; its digits"
    published = (("strut", 1, -1.0, 602.0), ("cable", 4, 0.393, -237.0), ("vertical", 10, 0.681, -410.0))
    for what, element, state, force in published:
        (k,) = np.flatnonzero(simplex.elements == element)
        rows.append(target(f"simplex: self-stress of a {what}", state, "absolute", why, 5e-4, simplex.states[k, 0]))
        what = f"simplex: force of the state per elongation of a {what} [N/mm]"
        rows.append(target(what, force, "absolute", why, 0.5, simplex.sensitivity[0, k]))
    return rows


def net(nodes: list[tuple[float, ...]], bars: list[tuple[int, int]], held: str, cards: str, loads: str = "") -> Any:
    """Form finding of bars; nodes and bars are numbered from 1."""
    lines = "".join(f"{k}, {', '.join(map(repr, node))}\n" for k, node in enumerate(nodes, 1))
    ends = "".join(f"{k}, {i}, {j}\n" for k, (i, j) in enumerate(bars, 1))
    text = f"*NODE\n{lines}{HEAD.format(bars=ends)}{SECTION}{held}{cards}"
    return fem.parse_deck(text + STATIC.format(loads=loads))


def forms() -> list[Row]:
    """Force densities, forces: closed forms."""
    corners = [(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (1.0, 3.0, 0.0)]
    rows, held = list[Row](), "1, 1, 3\n2, 1, 3\n3, 1, 3\n4, 3\n"
    found = net([*corners, (1.5, 1.0, 0.0)], [(1, 4), (2, 4), (3, 4)], held, "*FORM FINDING, TYPE=FORCE\nALL, 7.\n")
    for axis, exact in enumerate(structures.FERMAT):
        what = f"node between three supports, equal forces: {'xy'[axis]}"
        why = "analytic: Fermat's point, 12 digits"
        rows.append(target(what, exact, "relative", why, 1e-11, found.mesh.coordinates[3, axis]))
    loads = "*CLOAD\n" + "".join(f"{k}, 3, -100.\n" for k in range(2, 11))
    nodes, bars = [(float(k), 0.0, 0.0) for k in range(11)], [(k, k + 1) for k in range(1, 11)]
    card = "*FORM FINDING, TYPE=FORCE DENSITY\nALL, 500.\n"
    found = net(nodes, bars, "1, 1, 3\n11, 1, 3\n", card, loads)
    miss = np.abs(found.mesh.coordinates[1:10, 2] - structures.parabola(10.0, 10, 500.0, 100.0)).max()
    why = "analytic: parabola; round-off"
    rows.append(target("chain of equal force densities: largest error of z", 0.0, "absolute", why, 1e-13, miss))
    moved = np.abs(fem.run(found).u).max()
    why = "law: a form that was found does not move; 1e-10 of its size"
    rows.append(target("the same chain in *STATIC: largest displacement", 0.0, "absolute", why, 1e-9, moved))
    return rows


def limit_of(name: str, strain: str) -> tuple[float, Any]:
    """Load factor at the first limit point, and the path."""
    text = (DECKS / f"{name}.inp").read_text()
    old = next(one for one in STRAINS if f"STRAIN={one}" in text)
    history = fem.run(fem.parse_deck(text.replace(f"STRAIN={old}", f"STRAIN={strain}")))
    return next(event.load_factor for event in history.events if event.event == "limit"), history


def limits(paths: dict[str, tuple[float, Any]]) -> list[Row]:
    """First limit points of arc-length paths."""
    rows, given = [], GIVEN["star_dome_riks"]
    for strain, (factor, _) in paths.items():
        what = f"star dome, {strain}: factor of 220.46 lbf at its first limit point"
        rows.append(target(what, given["first_limit"][strain], "relative", given["source"], 1e-8, factor))
    for strain in STRAINS:
        factor, _ = limit_of("von_mises_riks", strain)
        exact = GIVEN["von_mises_riks"]["first_limit_force"][strain]
        what = f"two bars, {strain}: limit load [N]"
        rows.append(target(what, exact, "relative", GIVEN["von_mises_riks"]["source"], 1e-8, 400.0 * factor))
    return rows


def buckling() -> tuple[list[Row], np.ndarray]:
    """Linear buckling loads; (k, 2) preload and P + lambda of two bars."""
    rows, green = [], (DECKS / "von_mises_preloaded_buckle_green.inp").read_text()
    for name in FACTORS:
        given = GIVEN[name]
        found = fem.run(DECKS / f"{name}.inp").buckling[-1].factor
        for k, factor in enumerate(given["factors"]):
            why = f"{given.get('source', 'independent calculation (numpy)')}; its digits"
            rows.append(target(f"{name}: factor {k + 1}", factor, "relative", why, 1e-8, found[k]))
    text = (DECKS / "star_dome_buckle.inp").read_text().replace("STRAIN=GREEN", "STRAIN=ENGINEERING")
    found = fem.run(fem.parse_deck(text)).buckling[-1].factor
    for k, factor in enumerate(GIVEN["star_dome_buckle"]["engineering"]):
        what, why = f"star dome, ENGINEERING: factor {k + 1}", "independent calculation (numpy)"
        rows.append(target(what, factor, "relative", why, 1e-8, found[k]))
    sums = []
    for preload in PRELOADS:
        preloaded = fem.parse_deck(green.replace("3, 3, -300", f"3, 3, {-preload}"))
        sums.append(preload + fem.run(preloaded).buckling[-1].factor[0])
    exact = structures.two_bars(0.1, 1.0, 1e6, "GREEN")
    why = "analytic: 2 EA h^3/L^3; round-off"
    rows.append(target("two bars, GREEN: factor of 1 N", exact, "relative", why, 1e-9, sums[0]))
    limit = structures.limit_of_two_bars(0.1, 1.0, 1e6)
    why = "analytic: P + lambda falls to the limit load 2 EA h^3/(3 sqrt(3) L^3); the factor left at 379.19 N"
    rows.append(target("two bars, GREEN: 379.19 N and its factor [N]", limit, "relative", why, 3e-3, sums[-1]))
    return rows, np.column_stack([PRELOADS, sums])


def yielding(loops: dict[str, Any]) -> list[Row]:
    """Three bars cycled beyond yield."""
    rows = []
    for name, history in loops.items():
        given = GIVEN[f"three_bars_{name}"]
        for time, (force, outer, inner) in given["at"].items():
            k = int(np.abs(history.time - float(time)).argmin())
            what, why = f"three bars, {name}, time {time}", "OpenSees' Hardening, exact return map; its digits"
            rows.append(target(f"{what}: force [N]", force, "relative", why, 1e-12, -history.of_node(4, "RF")[k, 2]))
            rows.append(target(f"{what}: stress of bar 1 [MPa]", outer, "relative", why, 1e-12,
                               history.of_element(1, "S")[k]))  # fmt: skip
            rows.append(target(f"{what}: stress of bar 2 [MPa]", inner, "relative", why, 1e-12,
                               history.of_element(2, "S")[k]))  # fmt: skip
    bars = (DECKS / "three_bars_isotropic.inp").read_text()
    turns = ", ".join(f"{time}., {side}." for time, side in enumerate((0, 1, -1, 1, -1, 1)))
    text = bars.replace("*PLASTIC\n250, 0.\n20250, 1.\n", COMBINED).replace("0., 0.,  1., 1.,  2., -1.,  3., 1.", turns)
    history = fem.run(fem.parse_deck(text.replace("0.05, 3.", "0.05, 5.").replace("4, 3, 3, -0.8", "4, 3, 3, -2.")))
    why = "OpenSees' UVCuniaxial, which stops at 1e-6 of the yield stress"
    for time, stress in enumerate((315.787482, -333.059638, 333.431043, -336.368189, 338.714099), 1):
        what = f"bar cycled by a strain of 0.005, combined hardening, turn {time}: stress [MPa]"
        k = int(np.abs(history.time - time).argmin())
        rows.append(target(what, stress, "relative", why, 1e-8, history.of_element(2, "S")[k]))
    return rows


def drawn_paths(history: Any, sums: np.ndarray) -> Figure:
    """The dome's path with what linear buckling says of it; two bars, whose factor falls to the limit."""
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(-history.of_node(1)[:, 2], history.load_factor, color=tools.BLUE, label="RIKS")
    left.axhline(GIVEN["star_dome_riks"]["first_limit"]["GREEN"], color=tools.GREY, ls=":", label="first limit")
    left.plot([0.0, 0.2064118 * 1.5], [0.0, 1.5], color=tools.ORANGE, ls="--", label="linear")
    left.set(title="star dome", xlabel="deflection of the crown [in]", ylabel="load over 220.46 lbf", ylim=(-1.0, 1.5))
    left.legend(fontsize="small")
    right.plot(*sums.T, "o-", color=tools.BLUE, label="P + factor")
    right.axhline(structures.limit_of_two_bars(0.1, 1.0, 1e6), color=tools.GREY, ls=":", label="limit load")
    right.plot([0.0, 400.0], [0.0, 400.0], color=tools.ORANGE, ls="--", label="P")
    right.set(title="two bars, GREEN", xlabel="preload P [N]", ylabel="load [N]", ylim=(0.0, None))
    right.legend(fontsize="small")
    return figure


def drawn_loops(loops: dict[str, Any]) -> Figure:
    """Force over displacement of three bars."""
    sheet, axes = tools.figure("Three bars beyond yield", "displacement down [mm]", "force down [N]")
    for (name, history), colour in zip(loops.items(), (tools.BLUE, tools.ORANGE), strict=True):
        axes.plot(-history.of_node(4)[:, 2], -history.of_node(4, "RF")[:, 2], color=colour, label=name)
        points = [(0.8, -0.8, 0.8), [force for force, *_ in GIVEN[f"three_bars_{name}"]["at"].values()]]
        axes.plot(*points, "o", color=colour, mfc="none", label=f"{name}, OpenSees")
    tools.legend(axes)
    return sheet
