"""Code_Aster: a command file and a mesh, in the form of its test SDNL100: CABLE elements, discrete masses.

Cannot be run here: checked as Python, and against the commands and keywords of astest/sdnl100a.comm.
"""

from __future__ import annotations

from collections.abc import Iterable

from fem.codes.export import Writing, comments, one_line
from fem.codes.twin import SHARP, Member, PiecewiseSeries, Stage, Twin, hht_of, twin_of
from fem.model import Dynamic, Model

ON_A_LINE = 8
NAME = 24
"""Longest name of a group."""


def files_of(model: Model) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of each file, and the notes."""
    writing = Writing("Code_Aster", model)
    twin = twin_of(writing, keeps_off=True)
    if any(each.plus != 1.0 for each in twin.members):
        writing.refuse("NO TENSION", "", "NO TENSION: EC_SUR_E is a ratio in compression", "use a cable")
    writing.notes = [note for note in writing.notes if not note.startswith("strain: GREEN")]
    groups: dict[tuple[float, ...], list[Member]] = {}
    for each in twin.members:
        young = each.stiffness * each.length0 / each.area
        density = each.mass / each.length0 / each.area if each.off else 0.0
        groups.setdefault((young, each.area, density, each.minus), []).append(each)
    text = commands(twin, groups, writing)
    writing.close()
    return {"_code_aster.mail": mesh_text(twin, groups), "_code_aster.comm": text}, writing.notes


def named(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name.upper())[:NAME]


def group_lines(keyword: str, name: str, members: Iterable[str]) -> list[str]:
    all_ = list(members)
    rows = [" ".join(all_[k : k + ON_A_LINE]) for k in range(0, len(all_), ON_A_LINE)]
    return [keyword, name, *rows, "FINSF"] if all_ else []


def mesh_text(twin: Twin, groups: dict[tuple[float, ...], list[Member]]) -> str:
    """ASTER mesh: nodes N<label>, cables M<label>, a point P<label> at each node with a mass."""
    mesh = twin.model.mesh
    lines = ["TITRE", *(f"- {text}"[:80] for text in twin.model.heading), "FINSF", "COOR_3D"]
    for label, place in zip(mesh.node_labels.tolist(), mesh.coordinates.tolist(), strict=True):
        lines.append(f"N{label} " + " ".join(f"{x:.15E}" for x in place))
    bars = (f"M{m.label} N{twin.label(m.first)} N{twin.label(m.last)}" for m in twin.members)
    lines += ["FINSF", "SEG2", *bars, "FINSF"]
    masses = twin.mass_beside(0.25, of_off=True)
    lines += ["POI1", *(f"P{twin.label(node)} N{twin.label(node)}" for node in masses), "FINSF"] if masses else []
    for number, own in enumerate(groups.values(), 1):
        lines += group_lines("GROUP_MA", f"FEM_CAB{number}", (f"M{m.label}" for m in own))
    for node in masses:
        lines += group_lines("GROUP_MA", f"FEM_P{twin.label(node)}", [f"P{twin.label(node)}"])
    cables = {m.label for m in twin.members}
    for name, its in mesh.element_sets.items():
        of_set = (f"M{label}" for label in mesh.element_labels[its].tolist() if label in cables)
        lines += group_lines("GROUP_MA", named(name), of_set)
    for name, its in mesh.node_sets.items():
        lines += group_lines("GROUP_NO", named(name), (f"N{label}" for label in mesh.node_labels[its].tolist()))
    used = {twin.label(dof // 3) for stage in twin.stages for dof in (*stage.loads, *stage.held)}
    for label in sorted(used | set(twin.nodes)):
        lines += group_lines("GROUP_NO", f"FEM_N{label}", [f"N{label}"])
    return "\n".join([*lines, "FIN"]) + "\n"


def commands(twin: Twin, groups: dict[tuple[float, ...], list[Member]], writing: Writing) -> str:
    masses = twin.mass_beside(0.25, of_off=True)
    points = ", ".join(f"'FEM_P{twin.label(node)}'" for node in masses)
    cables = ", ".join(f"'FEM_CAB{number}'" for number in range(1, len(groups) + 1))
    tension = max((section.starting_tension for section in twin.model.sections), default=0.0)
    if not tension and twin.stages and not twin.stages[0].dynamic:
        writing.note(
            "no STARTING TENSION: N_INIT=0., so that cables that carry nothing have no stiffness across in the first "
            "iteration, in which statics may be singular"
        )
    lines = [
        *comments(twin.model, *writing.notes),
        "DEBUT()",
        "MA = LIRE_MAILLAGE(FORMAT='ASTER')",
        "MO = AFFE_MODELE(MAILLAGE=MA, AFFE=(",
        f"    _F(GROUP_MA=({cables},), PHENOMENE='MECANIQUE', MODELISATION='CABLE'),",
        *([f"    _F(GROUP_MA=({points},), PHENOMENE='MECANIQUE', MODELISATION='DIS_T'),"] if masses else []),
        "))",
    ]
    for number, (young, _, density, ratio) in enumerate(groups, 1):
        law = f"ELAS=_F(E={young!r}, NU=0.0, RHO={density!r}), CABLE=_F(EC_SUR_E={ratio!r})"
        lines.append(f"MAT{number} = DEFI_MATERIAU({law})")
    affe = [f"    _F(GROUP_MA='FEM_CAB{number}', MATER=MAT{number})," for number in range(1, len(groups) + 1)]
    lines += ["CHMAT = AFFE_MATERIAU(MAILLAGE=MA, AFFE=(", *affe, "))", "CARA = AFFE_CARA_ELEM(MODELE=MO,"]
    areas = enumerate((area for _, area, *_ in groups), 1)
    section = [
        f"        _F(GROUP_MA='FEM_CAB{number}', SECTION={area!r}, N_INIT={tension!r})," for number, area in areas
    ]
    lines += ["    CABLE=(", *section, "    ),"]
    discrete = [f"        _F(GROUP_MA='FEM_P{twin.label(n)}', CARA='M_T_D_N', VALE={m!r})," for n, m in masses.items()]
    lines += [*(["    DISCRET=(", *discrete, "    ),"] if masses else []), ")"]
    laws = [f"    _F(GROUP_MA=({cables},), RELATION='CABLE', DEFORMATION='GROT_GDEP'),"]
    laws += [f"    _F(GROUP_MA=({points},), RELATION='ELAS')," if masses else ""]
    for number, stage in enumerate(twin.stages, 1):
        lines += stage_lines(twin, stage, number, [law for law in laws if law], writing)
    return "\n".join([*lines, "FIN()"]) + "\n"


def stage_lines(twin: Twin, stage: Stage, number: int, laws: list[str], writing: Writing) -> list[str]:
    """A step: its instants, its loads with their functions, the command that solves it, its output."""
    lines = [f"# {one_line(stage.name)}"]
    *whole, last = stage.times.tolist()[1:]
    parts = [(last, stage.increments)]
    if whole and last < whole[-1] + (1.0 - SHARP) * stage.dt:
        parts = [(whole[-1], len(whole)), (last, 1)]
    spans = ", ".join(f"_F(JUSQU_A={end!r}, NOMBRE={count})" for end, count in parts)
    spans = f"({spans})" if len(parts) > 1 else spans
    lines.append(f"LI{number} = DEFI_LIST_REEL(DEBUT={stage.start!r}, INTERVALLE={spans})")
    excitation = list[str]()
    for keyword, given, letter in (("DDL_IMPO", stage.held, "D"), ("FORCE_NODALE", stage.loads, "F")):
        shapes: dict[PiecewiseSeries, dict[int, list[str]]] = {}
        for dof, series in given.items():
            shape, scale = series.scaled
            value = scale if any(shape.values) else 0.0
            shapes.setdefault(shape, {}).setdefault(dof // 3, []).append(f"{letter}{'XYZ'[dof % 3]}={value!r}")
        for shape, nodes in shapes.items():
            name = f"{number}_{len(excitation) + 1}"
            rows = [f"    _F(GROUP_NO='FEM_N{twin.label(node)}', {', '.join(own)})," for node, own in nodes.items()]
            lines += [f"CH{name} = AFFE_CHAR_MECA(MODELE=MO, {keyword}=(", *rows, "))"]
            if shape.is_constant:
                excitation.append(f"    _F(CHARGE=CH{name}),")
                continue
            points = ", ".join(f"{time!r}, {value!r}" for time, value in zip(*shape, strict=True))
            ends = "PROL_DROITE='CONSTANT', PROL_GAUCHE='CONSTANT'"
            lines.append(f"FO{name} = DEFI_FONCTION(NOM_PARA='INST', {ends}, VALE=({points}))")
            excitation.append(f"    _F(CHARGE=CH{name}, FONC_MULT=FO{name}),")
    most = twin.model.steps[number - 1].controls.max_iterations
    nodes_ = ", ".join(f"'FEM_N{label}'" for label in twin.nodes)
    return [
        *lines,
        f"RESU{number} = {'DYNA' if stage.dynamic else 'STAT'}_NON_LINE(",
        *("  MODELE=MO, CHAM_MATER=CHMAT, CARA_ELEM=CARA,", "  EXCIT=(", *excitation, "  ),"),
        f"  INCREMENT=_F(LIST_INST=LI{number}),",
        *([f"  ETAT_INIT=_F(EVOL_NOLI=RESU{number - 1}),"] if number > 1 else []),
        *([f"  SCHEMA_TEMPS={scheme(stage.dynamic, writing)},"] if stage.dynamic else []),
        *("  COMPORTEMENT=(", *laws, "  ),"),
        f"  CONVERGENCE=_F(RESI_GLOB_RELA={stage.tolerance!r}, ITER_GLOB_MAXI={most}),",
        "  NEWTON=_F(REAC_ITER=1))",
        f"IMPR_RESU(FORMAT='RESULTAT', RESU=_F(RESULTAT=RESU{number}, NOM_CHAM='DEPL', GROUP_NO=({nodes_},)))",
    ]


def scheme(dynamic: Dynamic, writing: Writing) -> str:
    """SCHEMA_TEMPS of a dynamic step."""
    if dynamic.integrator == "NEWMARK":
        return f"_F(SCHEMA='NEWMARK', FORMULATION='DEPLACEMENT', BETA={dynamic.beta!r}, GAMMA={dynamic.gamma!r})"
    return f"_F(SCHEMA='HHT', FORMULATION='DEPLACEMENT', ALPHA={hht_of(dynamic, writing)!r}, MODI_EQUI='OUI')"
