"""``fem export DECK --to fmu``: a co-simulation unit (FMI 3 or 2), and its functions during a simulation.

PythonFMU3 and PythonFMU make the archive and its library, which starts Python: the importing program needs this Python
environment, with ``fem`` and the library.
"""

from __future__ import annotations

import importlib
import json
import keyword
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fem
from fem.arrays import Say
from fem.deck import read_model
from fem.driven import Stepper
from fem.errors import CommandError, FemError, lacks, proposal, unknown
from fem.model import Model
from fem.model.named import WORDS, labels_of, members_named, number_named, set_named
from fem.model.quantities import QUANTITIES, says_si
from fem.runs.own import check_file

LIBRARIES = {3: "pythonfmu3", 2: "pythonfmu"}
READ = {"U": Stepper.u, "V": Stepper.v, "A": Stepper.a, "RF": Stepper.reaction}
DESCRIPTION, DECK = "interface.json", "deck"
ORDERS = {
    "linear": "reached at the end of the next communication step",
    "hold": "acts at once, and stays for the next communication step",
    "ahead": "by its last two values it is carried on to the end of the next communication step",
}
"""What the unit makes of the value of an input that is set before a step."""
SCRIPT = '''"""A deck as a unit for co-simulation, made by fem {version}."""

import sys

from {library} import Fmi{fmi}Slave

from fem.codes.fmu import DeckUnit

# PythonFMU (FMI 2) releases this module once too often for each instance.
references = [globals(), sys.modules.get(__name__)] * 1000


class {name}(DeckUnit, Fmi{fmi}Slave):
    fmi, library = {fmi}, "{library}"
'''


def export(
    deck: Path, to: str, input: str, input_order: str, output: str, file: Path | None, fmi: int, parameters: Any,
    force: bool, say: Say,
) -> None:  # fmt: skip
    """``fem export DECK --to fmu``."""
    inputs, outputs = ([each.strip() for each in text.split(",") if each.strip()] for text in (input, output))
    written = export_fmu(deck, file, outputs, inputs, dict(parameters), fmi, force, input_order)
    say(f"wrote {written} (FMI {fmi})")


def export_fmu(
    deck: str | Path | Model,
    file: str | Path | None = None,
    outputs: Sequence[str] = (),
    inputs: Sequence[str] = (),
    parameters: dict[str, float] | None = None,
    fmi: int = 3,
    force: bool = False,
    input_order: str = "linear",
) -> Path:
    """Write a deck as a functional mock-up unit (FMU) for co-simulation, and return its path.

    deck        path of the ``.inp``, or a ``Model``
    file        of the unit; None: ``<deck name>.fmu`` in the current folder
    outputs     ``T_e12``, ``U3_n5``: U, V, A, RF of nodes, T of elements; ``T_TOPS``: the largest in a set; energies
    inputs      amplitudes with DEFINITION=USER (none named: all)
    input_order  what a value does that is set before a step: linear, it is reached along a straight line at the end of
                that step; hold, it acts at once and stays; ahead, the straight line leads to where the last two values
                point, so that importing programs, which set values of the beginning of a step, are not a step late
    parameters  start values of ``*PARAMETER`` names in place of the deck's; all of these are parameters of the unit
    fmi         version of FMI, 3 or 2
    force       overwrite a file with other content

    CommandError: names that the deck does not have, a last step without motion, no such order, no PythonFMU.

    >>> fem.export_fmu("inputs/driven_crane.inp", "crane.fmu", ["U1_n2", "T_e1"]).name
    'crane.fmu'
    """
    library, model = LIBRARIES[fmi], read_model(deck, parameters)
    if input_order not in ORDERS:
        raise CommandError(f"there is no order of inputs {input_order!r}; {proposal(input_order, ORDERS)}")
    file = Path(file or f"{Path(model.source).stem}.fmu")
    name = identifier(file.stem)
    try:
        builder = importlib.import_module(f"{library}.builder").FmuBuilder
    except ImportError:
        raise CommandError(lacks(library, "fmu")) from None
    check_file(file, map(Path, model.files), force, False)
    about = description_of(model, name, inputs, outputs, input_order)
    with TemporaryDirectory(prefix="fem-fmu-") as folder:
        work = Path(folder)
        copy_deck(model, work / DECK)
        (work / DESCRIPTION).write_text(json.dumps(about), encoding="utf-8")
        script = work / f"{name}.py"
        script.write_text(SCRIPT.format(version=fem.__version__, library=library, fmi=fmi, name=name), encoding="utf-8")
        options = {f"canGetAndSetFMU{'State' if fmi == 3 else 'state'}", "canHandleVariableCommunicationStepSize"}
        made = builder.build_FMU(script, work, {work / DECK, work / DESCRIPTION}, **dict.fromkeys(options, True))
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, file)
    return file


def identifier(stem: str) -> str:
    """Name of the unit, valid in C and Python."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return f"unit_{name}" if not name.isidentifier() or keyword.iskeyword(name) else name


def copy_deck(model: Model, folder: Path) -> None:
    """Copies all files of the deck; they are in its folder or below it. Of a model without files, writes its text."""
    if model.text:
        folder.mkdir()
        (folder / Path(model.source).name).write_text(model.text, encoding="utf-8")
    home = Path(model.source).resolve().parent
    for file in map(Path, model.files):
        place = folder / file.relative_to(home)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)


def description_of(
    model: Model, name: str, inputs: Sequence[str], outputs: Sequence[str], order: str
) -> dict[str, Any]:
    """What the unit has, checked against the deck."""
    users = {key: float(each.points[0, 1]) for key, each in model.amplitudes.items() if each.definition == "USER"}
    if missing := [one for one in inputs if one.upper() not in users]:
        raise CommandError(str(unknown("amplitude with DEFINITION=USER", missing[0], users)))
    if model.earlier or not model.steps or not model.steps[-1].dynamic:
        raise CommandError("a unit needs a deck whose last step is *DYNAMIC, without *RESTART, READ")
    for output in outputs:
        read_as(model, output)
    chosen = {key: users[key] for key in (map(str.upper, inputs) if inputs else users)}
    if not outputs:
        raise CommandError("a unit needs outputs: --output T_e12,U3_n5 (U, V, A, RF of nodes, T of elements, energies)")
    names = [*chosen, *model.parameters, *outputs]
    if twice := sorted({one for one in names if names.count(one) > 1}):
        raise CommandError(f"{twice[0]} would be two variables of the unit: rename one, or leave one out")
    step = model.steps[-1].timed
    return {
        "name": name, "heading": " ".join(model.heading).strip(), "deck": Path(model.source).name, "inputs": chosen,
        "parameters": model.parameters, "outputs": list(outputs), "period": step.period, "dt": step.dt,
        "texts": texts_of(model, chosen, outputs, order), "order": order,
    }  # fmt: skip


SI = {"length": "m", "length/time": "m/s", "length/time²": "m/s²", "force": "N", "energy": "J"}


def texts_of(model: Model, inputs: Iterable[str], outputs: Sequence[str], order: str) -> dict[str, str]:
    """What the variables of the unit are, and their units: those of the deck, in SI where its heading says so."""
    found = dict.fromkeys(model.parameters, "parameter of the deck")
    found |= dict.fromkeys(inputs, f"amplitude of the deck; {ORDERS[order]}")
    quantities = {each.name: each for table in QUANTITIES.values() for each in table}
    for output in outputs:
        of = set_named(output)
        number = members_named(model.mesh, output)[0] if of else number_named(output)
        what, unit = f"energy: {output}", "energy"
        if kind := number.kind:
            quantity = quantities[number.family]
            where = f"the {WORDS[kind]}s of {of.name}" if of else f"{WORDS[kind]} {number.label}"
            what, unit = f"{'largest ' if of else ''}{quantity.field} of {where}", quantity.unit
            what += f" along {'xyz'[number.axis]}" if quantity.axes else ""
        found[output] = f"{what} [{SI.get(unit, unit) if says_si(model.heading) else unit}]"
    return found


def read_as(model: Model, output: str) -> Callable[[Stepper], float]:
    """Function that reads an output from a stepper; of a set, the largest. CommandError: there is no such number."""
    if set_named(output):
        members = [read_as(model, str(each)) for each in members_named(model.mesh, output)]
        return lambda sim: max(read(sim) for read in members)
    column, kind, label = number = number_named(output)
    if not kind:
        return lambda sim: sim.energies[column]
    if number.family not in (["T"] if kind == "e" else READ) or column == "T2":
        raise CommandError(f"{output}: a unit gives U, V, A, RF of nodes (U3_n5), T of elements (T_e12), and energies")
    if label not in (labels := labels_of(model.mesh, kind)):
        raise CommandError(str(unknown(WORDS[kind], label, labels)))
    if kind == "e":
        return lambda sim: float(sim.tension(label))
    return lambda sim: float(READ[number.family](sim, label)[number.axis])


class DeckUnit:
    """Methods of a unit, in addition to ``Fmi3Slave`` or ``Fmi2Slave``.

    The run begins when initialisation ends, or when an output is read: parameters are set before. Time of the unit
    starts at the last step of the deck; steps before it are run at the beginning.
    """

    fmi: int
    library: str
    register_variable: Any
    log: Any

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.folder = Path(kwargs["resources"].removeprefix("file://"))
        about = json.loads((self.folder / DESCRIPTION).read_text(encoding="utf-8"))
        self.modelName, self.description, self.deck = about["name"], about["heading"], about["deck"]
        self.given = {**about["parameters"], **about["inputs"]}
        self.parameters, self.inputs = list(about["parameters"]), about["inputs"]
        self.order = about["order"]
        self.changed: set[str] = set()
        self.before: dict[str, tuple[float, float]] = {}  # input -> time and value at the beginning of the last step
        self.readers: dict[str, Callable[[Stepper], float]] = {}
        self.sim: Stepper | None = None
        self.start = self.first = 0.0
        of = importlib.import_module(self.library)
        number = of.Float64 if self.fmi == 3 else of.Real
        texts = about.get("texts", {})
        causality, variability = (getattr(of, f"Fmi{self.fmi}{what}") for what in ("Causality", "Variability"))

        def register(name: str, way: str, **access: Any) -> None:
            change = variability.fixed if way == "parameter" else variability.continuous
            access |= {"causality": causality[way], "variability": change, "description": texts.get(name)}
            self.register_variable(number(name, **access), nested=False)

        if self.fmi == 3:
            register("time", "independent", getter=lambda: self.time)
        for names, way in ((self.parameters, "parameter"), (self.inputs, "input")):
            for name in names:
                register(name, way, getter=partial(self.given.__getitem__, name), setter=partial(self.put, name))
        for name in about["outputs"]:
            register(name, "output", getter=partial(self.read, name))
        self.default_experiment = of.DefaultExperiment(0.0, about["period"], about["dt"])

    def put(self, name: str, value: float) -> None:
        """Sets a parameter, or an input for the end of the next step."""
        if name in self.parameters and self.sim is not None and value != self.given[name]:
            raise self.told(CommandError(f"{name}: parameters are set before the end of initialisation"))
        self.given[name] = float(value)
        self.changed.add(name)

    def read(self, name: str) -> float:
        sim = self.begun()
        if name not in self.readers:
            self.readers[name] = read_as(sim.model, name)
        return self.readers[name](sim)

    @property
    def time(self) -> float:
        """Time of the unit."""
        return self.start + (self.sim.time - self.first if self.sim else 0.0)

    def begun(self) -> Stepper:
        """The run; it begins with the present values, and inputs that differ from the deck's jump to them."""
        if self.sim is None:
            try:
                parameters = {name: self.given[name] for name in self.parameters}
                self.sim = fem.stepper(self.folder / DECK / self.deck, parameters=parameters, history=False)
                self.first = self.sim.time
                for name, at_rest in self.inputs.items():
                    if self.given[name] != at_rest:
                        self.sim.jump(name, self.given[name])
            except (FemError, KeyError) as error:
                raise self.told(error) from None
            self.changed.clear()
        return self.sim

    def told(self, error: Exception) -> Exception:
        """The same error, with its message written to the log."""
        status = getattr(importlib.import_module(self.library + ".enums"), f"Fmi{self.fmi}Status")
        self.log(str(error.args[0] if isinstance(error, KeyError) else error), status.error)
        return error

    # Methods called by the importing program

    def setup_experiment(self, start_time: float, *_: Any) -> None:
        self.start = start_time

    def exit_initialization_mode(self) -> None:
        self.begun()

    def do_step(self, current_time: float, step_size: float) -> Any:
        """Advance to the end of the step."""
        sim = self.begun()
        now = self.first + current_time - self.start
        try:
            if abs(now - sim.time) > 1e-9 * max(step_size, abs(now)):
                raise CommandError(f"a step from {current_time:g}: the unit is at {self.time:g}")
            for name in self.inputs if self.order == "ahead" else self.changed:
                self.drive(sim, name, now, step_size)
            self.changed.clear()
            sim.advance_to(now + step_size)
        except (FemError, KeyError) as error:
            return self.step_result(self.told(error))
        return self.step_result(None)

    def drive(self, sim: Stepper, name: str, now: float, step_size: float) -> None:
        """What an input does in the step that begins."""
        value = self.given[name]
        if self.order == "hold":
            sim.jump(name, value)
            return
        before, old = self.before.get(name, (now, value))
        sim[name] = value + (step_size * (value - old) / (now - before) if before < now else 0.0)
        if self.order == "ahead":
            self.before[name] = now, value

    def step_result(self, error: Exception | None) -> Any:
        """Return value of a step in FMI 3 or 2: an error, or a refused step."""
        if self.fmi == 2:
            return error is None
        of = importlib.import_module(self.library)
        return of.Fmi3StepResult(of.Fmi3Status.error if error else of.Fmi3Status.ok)

    def terminate(self) -> None:
        if self.sim is not None:
            self.sim.close()

    def _get_fmu_state(self) -> dict[str, Any]:
        return {
            "given": dict(self.given),
            "changed": set(self.changed),
            "before": dict(self.before),
            "kept": self.begun().save(),
        }

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        self.begun().restore(state["kept"])
        self.given.update(state["given"])
        self.changed, self.before = set(state["changed"]), dict(state["before"])
