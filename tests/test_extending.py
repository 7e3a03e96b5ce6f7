"""A force, a law, a scheme, a quantity and a command are added to a copy of the program, each in few files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scipy.optimize import brentq

ROOT = Path(__file__).resolve().parents[1]
SOIL = '''"""Soil beside a line: at each node of a set a spring across it (along y), which slips at a largest force."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel
from fem.forces.protocol import TAKEN, Family, Tangent, Trial


class Soil(NamedTuple):
    """nodes (q,), numbers (q, 2): stiffness, largest force; first of their states: slip, and energy lost by it."""

    nodes: Ints
    numbers: Floats
    first: int


def assemble(model: Any, system: Any, pair: int, state: int) -> Soil:
    nodes = [model.mesh.node_sets[each.node_set] for each in model.soils]
    numbers = [(each.stiffness, each.largest) for each, own in zip(model.soils, nodes) for _ in own]
    return Soil(np.concatenate([np.zeros(0, np.int64), *nodes]), np.array(numbers).reshape(-1, 2), state)


@called_kernel
def evaluate(trial: Trial, own: Soil, force: Floats, flow: Floats, tangent: Tangent) -> float:
    energy = 0.0
    for m in range(own.nodes.shape[0]):
        node, slip, lost = own.nodes[m], own.first + 2 * m, own.first + 2 * m + 1
        stiffness, largest = own.numbers[m, 0], own.numbers[m, 1]
        u1, before = trial.u1[3 * node + 1], trial.state0[slip]
        pull, slope = stiffness * (u1 - before), stiffness
        if abs(pull) > largest:
            pull, slope = largest if pull > 0.0 else -largest, 0.0
        trial.state1[slip] = u1 - pull / stiffness
        trial.state1[lost] = trial.state0[lost] + pull * (trial.state1[slip] - before)
        trial.power[TAKEN] += pull * (trial.state1[slip] - before)
        part = 1.0
        if trial.secant:
            pull, part = 0.5 * (pull + stiffness * (trial.u0[3 * node + 1] - before)), 0.5
        force[3 * node + 1] += pull
        if tangent.block.shape[0] > 0:
            tangent.block[node, 4] += trial.weight * part * slope
        energy += 0.5 * stiffness * (u1 - trial.state1[slip]) ** 2
    return energy


SOIL = Family(
    "soil", assemble, evaluate, states=lambda own: np.zeros(2 * len(own.nodes)), smooth=False, kinked=True,
    wanted=lambda model: bool(model.soils),
)
'''
FORCE: dict[str, Any] = {
    "fem/forces/soil.py": SOIL,
    "fem/forces/families.py": {
        "from fem.forces.springs": "from fem.forces.soil import SOIL\nfrom fem.forces.springs",
        "BENDING_DAMPING, MOMENTS]": "BENDING_DAMPING, MOMENTS, SOIL]",
    },
    "fem/model/__init__.py": {
        "@frozen\nclass Pulley": '''@frozen
class LateralSoil:
    """``*LATERAL SOIL``: at each node of a set, its stiffness across a line and its largest force."""

    node_set: str
    stiffness: float
    largest: float


@frozen
class Pulley''',
        '= part("PULLEY")\n': '= part("PULLEY")\n    soils: tuple[LateralSoil, ...] = part("LATERAL SOIL")\n',
    },
    "fem/deck/sections.py": {
        '    "PULLEY": Form(': """    "LATERAL SOIL": Form(
        model.LateralSoil,
        Parameters(NSET=Value("node_set", name_of("node"))),
        DataLine(
            "stiffness, largest force",
            Value("stiffness", POSITIVE_NUMBER, "the stiffness"),
            Value("largest", POSITIVE_NUMBER, "the largest force"),
        ),
        into="soils",
        statement={"extension": "*LATERAL SOIL"},
    ),
    "PULLEY": Form(""",
    },
}
"""What a force with a keyword of its own needs: a whole file, or what stands in a file -> what comes there."""

LAW: dict[str, Any] = {
    "fem/forces/laws.py": {
        "BILINEAR, TABLE, RIGID = 0, 1, 2": "BILINEAR, TABLE, RIGID, CUBIC = 0, 1, 2, 3",
        "    return RIGID if material": """    if material.cubic is not None:
        return CUBIC, material.cubic.cubic, 0.0
    return RIGID if material""",
        "    first, count = int(common(one))": """    if law == CUBIC:
        both, squares = e0 + e1, e0 * e0 + e1 * e1
        stress = 0.5 * young * both * (1.0 + 0.5 * one * squares)
        modulus = 0.5 * young * (1.0 + 0.5 * one * (squares + 2.0 * both * e1))
        stored = 0.5 * young * e1 * e1 * (1.0 + 0.5 * one * e1 * e1)
        return stress, modulus, own.volume * stored, (1.0, 1.0, 1.0)
    first, count = int(common(one))""",
    },
    "fem/model/materials.py": {
        "@frozen\nclass Material:": '''@frozen
class CubicElastic:
    """``*CUBIC ELASTIC``: E (e + c e^3)."""

    young: float
    cubic: float


@frozen
class Material:''',
        "    poisson: float = 0.0\n": "    poisson: float = 0.0\n    cubic: CubicElastic | None = None\n",
        "        if self.dynamic is not None:\n": """        if self.cubic is not None:
            return self.cubic.young
        if self.dynamic is not None:
""",
    },
    "fem/deck/materials.py": {
        "import BucklingStrength, Plastic": "import BucklingStrength, CubicElastic, Plastic",
        '    "DENSITY": Form(': """    "CUBIC ELASTIC": Form(
        CubicElastic,
        line=DataLine(
            "E, c",
            Value("young", POSITIVE_NUMBER, "the modulus E"),
            Value("cubic", POSITIVE_NUMBER, "the coefficient c"),
        ),
        into="cubic",
        statement={"extension": "*CUBIC ELASTIC"},
    ),
    "DENSITY": Form(""",
        '    "INEXTENSIBLE": (*ANY_LAW': '    "CUBIC ELASTIC": ("DENSITY", "DAMPING"),\n    "INEXTENSIBLE": (*ANY_LAW',
    },
}
"""What a law of bars needs."""

SCHEME: dict[str, Any] = {
    "fem/solve/schemes.py": {
        "SCHEMES: dict": """def linear_acceleration() -> Scheme:
    return newmark(1.0 / 6.0, 0.5)


SCHEMES: dict""",
        '    "HHT": lambda': '    "LINEAR ACCELERATION": lambda procedure: linear_acceleration(),\n    "HHT": lambda',
    },
    "fem/model/steps.py": {'    "HHT": ("alpha",),': '    "LINEAR ACCELERATION": (),\n    "HHT": ("alpha",),'},
}
QUANTITY: dict[str, Any] = {
    "fem/model/quantities.py": {
        '    vector("FV",': """    vector("TWICE", "twice", "length", derived=lambda of: 2.0 * of["U"]),
    vector("FV","""
    },
}
COMMAND: dict[str, Any] = {
    "fem/commands/count.py": '''"""``fem count``: the lines of a deck."""


def count(deck, parameters, say):
    say(f"{len(deck.read_text().splitlines())} lines")
''',
    "fem/cli.py": {
        "    examples = commands.add_parser(": """    counting = commands.add_parser("count", help="lines of a deck")
    option.add_deck(counting)
    counting.set_defaults(command=late("fem.commands.count:count", is_told=True))
    examples = commands.add_parser(""",
        'add_others: ("example",': 'add_others: ("count", "example",',
    },
}

YOUNG, CUBIC, AREA, PULL = 1e3, 40.0, 0.01, 2.0
STIFFNESS, LARGEST, GROUND, LOAD = 100.0, 1.0, 10.0, 1.5
DECK = f"""*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 5, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=POINT
2, 3
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
3, 3
*NSET, NSET=BURIED
3
*MASS, ELSET=POINT
1.
*SPRING, ELSET=GROUND
2
{GROUND}
*MATERIAL, NAME=M
*CUBIC ELASTIC
{YOUNG}, {CUBIC}
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M, STRAIN=ENGINEERING
{AREA}
*LATERAL SOIL, NSET=BURIED
{STIFFNESS}, {LARGEST}
*BOUNDARY
1, 1, 3
2, 2, 3
3, 1
3, 3
*STEP, NLGEOM
*STATIC
0.25, 1
*CLOAD
2, 1, {PULL}
3, 2, {LOAD}
*NODE PRINT
U, TWICE
*END STEP
*STEP, NLGEOM
*STATIC
0.25, 1
*CLOAD, OP=NEW
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={{scheme}}
0.0005, 0.08
*CLOAD
2, 1, {PULL}
*END STEP
"""
SCRIPT = """
import json, sys
from dataclasses import replace
import fem
from fem.assembly.system import assemble
from fem.errors import ModelError
from fem.compiled.interpreted import rehearsal
from fem.runs.checkpoint import changed_parts, digests_of
found = {}
for scheme in ("NEWMARK", "ENERGY MOMENTUM", "LINEAR ACCELERATION"):
    text = sys.argv[1].format(scheme=scheme)
    model = fem.parse_deck(text)
    with rehearsal():
        history = fem.run(model)
    found[scheme] = {
        "u": history.of_node(2)[:, 0].tolist(), "y": history.of_node(3)[:, 1].tolist(),
        "time": history.time.tolist(), "dissipated": history.of_energy("dissipated").tolist(),
        "twice": history.of_node(3, "TWICE")[:, 1].tolist(), "error": abs(history.energy_error).max(),
    }
again, other = fem.parse_deck(fem.write_deck(model)), replace(model, soils=())
found["same"] = again == model and len(again.soils) == 1
found["changed"] = changed_parts(digests_of(model), digests_of(other))
found["extensions"] = model.extensions
for name, old, new in (
    ("set", "NSET=BURIED\\n100", "NSET=NONE\\n100"),
    ("law", "*DENSITY\\n", "*NO COMPRESSION\\n*DENSITY\\n"),
    ("two", "*DENSITY\\n", "*ELASTIC\\n1\\n*DENSITY\\n"),
):
    try:
        fem.parse_deck(text.replace(old, new))
    except fem.DeckError as error:
        found[name] = str(error)
try:
    assemble(fem.parse_deck(text.replace("*BOUNDARY", "*INITIAL CONDITIONS, TYPE=STRESS\\nBAR, 1.\\n*BOUNDARY")))
except ModelError as error:
    found["stress"] = str(error)
print(json.dumps(found))
"""


def applied(change: dict[str, Any], tree: Path) -> None:
    """The change made to a copy of the program."""
    for name, given in change.items():
        path = tree / name
        if isinstance(given, str):
            assert not path.exists()
            path.write_text(given)
            continue
        text = path.read_text()
        for old, new in given.items():
            assert text.count(old) == 1, f"{name} no longer has {old!r}, beside which this test adds"
            text = text.replace(old, new)
        path.write_text(text)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a copy of the program with both does."""
    tree = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "fem", tree / "fem", ignore=shutil.ignore_patterns("__pycache__"))
    for change in (FORCE, LAW, SCHEME, QUANTITY, COMMAND):
        applied(change, tree)
    ran = subprocess.run([sys.executable, "-c", SCRIPT, DECK], cwd=tree, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (tree / "deck.inp").write_text(DECK)
    call = [sys.executable, "-m", "fem", "count", "deck.inp"]
    told = subprocess.run(call, cwd=tree, capture_output=True, text=True, check=True)
    return {"told": told.stdout} | json.loads(ran.stdout.splitlines()[-1])


def test_they_need_few_files() -> None:
    assert [len(each) for each in (FORCE, LAW, SCHEME, QUANTITY, COMMAND)] == [4, 3, 2, 1, 2]


@pytest.mark.long
def test_the_command_is_carried_out(found: Any) -> None:
    assert found["told"] == f"{len(DECK.splitlines())} lines\n"


def test_the_keywords_are_read_written_compared_and_refused(found: Any) -> None:
    assert found["same"] and found["changed"] == ["*LATERAL SOIL"]
    assert {"*LATERAL SOIL", "*CUBIC ELASTIC"} <= {*found["extensions"]}
    assert "there is no node set NONE" in found["set"]
    assert "*NO COMPRESSION with *CUBIC ELASTIC in material M" in found["law"]
    assert "element 1 has a law that allows no initial stress" in found["stress"]
    assert "*CUBIC ELASTIC with *ELASTIC in material M" in found["two"]


@pytest.mark.parametrize("scheme", ["NEWMARK", "ENERGY MOMENTUM", "LINEAR ACCELERATION"])
def test_they_act_as_their_formulas_say(found: Any, scheme: str) -> None:
    """Statics in closed form, soil that has slipped included; the bar pulled at once goes to where E A W(e) = P e."""
    ran = found[scheme]
    at = {time: row for row, time in enumerate(ran["time"])}
    strain = brentq(lambda e: YOUNG * AREA * (e + CUBIC * e**3) - PULL, 0.0, 1.0)
    assert ran["u"][at[1.0]] == pytest.approx(strain, rel=1e-6)
    assert ran["u"][at[2.0]] == pytest.approx(0.0, abs=1e-6)
    most = (LOAD - LARGEST) / GROUND
    slip = most - LARGEST / STIFFNESS
    assert ran["y"][at[1.0]] == pytest.approx(most, rel=1e-6)
    assert ran["y"][at[2.0]] == pytest.approx(STIFFNESS * slip / (STIFFNESS + GROUND), rel=1e-6)
    assert ran["twice"] == [2.0 * y for y in ran["y"]]
    assert ran["dissipated"][at[2.0]] == pytest.approx(LARGEST * slip, rel=1e-6)
    furthest = brentq(lambda e: YOUNG * AREA * (e / 2 + CUBIC * e**3 / 4) - PULL, 1e-3, 1.0)
    assert max(ran["u"]) == pytest.approx(furthest, rel=1e-3)
    assert ran["error"] < (1e-9 if scheme == "ENERGY MOMENTUM" else 1e-3) * PULL * furthest
