"""``fem.register``: a force with its keyword, an integrator, a quantity or a command from a script or a package.

One call registers it with reader, writer, checkpoints, tables, fields and the command line. The tangent of a force is
compared with finite differences in the first model that uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.commands.installed import DESCRIBED, EXTRA, Command
from fem.compiled.interpreted import rehearsal
from fem.deck import KEYWORDS
from fem.deck.sections import LISTED, OTHERS
from fem.deck.source import squeezed
from fem.deck.table import NEEDED, Form, card_of
from fem.errors import CommandError, ModelError
from fem.forces.families import FAMILIES, add_family, remove_family
from fem.forces.protocol import BOOKS, Family, Tangent, Trial
from fem.model.named import COLUMNS, note_columns
from fem.model.quantities import QUANTITIES, Quantity, Values
from fem.model.steps import PARAMETERS
from fem.solve.schemes import SCHEMES, Coefficients, Scheme

KINDS = {"nodes": ("NODE", "n"), "elements": ("EL", "e")}
CARD = re.compile(r"[A-Z][A-Z0-9 \-]*"), "capital letters, digits and blanks"
QUANTITY = re.compile(r"[A-Z]+"), "capital letters"
COMMAND = re.compile(r"[a-z][a-z0-9_\-]*"), "small letters, digits and hyphens"
"""Patterns of names, with their description."""
SHAKEN, STEP, OFF = 1e-3, 1e-6, 1e-4
"""Displacements of the test, and step of differences, as fractions of the size of a model; allowed error of the tangent
as a fraction of its largest entry."""
RATE, TRIES = 20.0, 3
"""dv1/du1 of the comparison; number of places at which it is tried, because a force may have a kink at one."""


def register(
    name: str, *, force: Family | None = None, keyword: Form | None = None,
    integrator: Callable[[], Scheme | Coefficients] | None = None,
    quantity: Callable[[Values], Floats] | None = None, of: str = "nodes", unit: str = "", axes: str = "",
    neighbours: bool = False,
    command: Callable[..., Any] | None = None, help: str = "",
) -> Addition:  # fmt: skip
    """Add something of one's own to the program, until it is removed or the process ends.

    name        of the card ``*NAME``, of the integrator (``TIME INTEGRATOR=``), of the quantity as decks ask for it, of
                the command (``fem NAME DECK``)
    force       a family of forces (``fem/forces/protocol.py``)
    keyword     card before the first step; what its form makes, one object of a class of one's own each, stands in
                ``model.others``
    integrator  () -> a scheme, or its coefficients (``fem/solve/schemes.py``)
    quantity    (values) -> numbers (..., p), or vectors (..., p, 3) with ``axes="123"``, of p nodes or elements, from
                other quantities: ``values["U"]``; of elements also ``values.ends("U")`` (..., p, 2, 3), that of the
                nodes at both ends; of: "nodes" or "elements"; unit: its formula (``length/time``);
                axes: "123" of vectors; neighbours: of nodes, it needs those at the other ends of their elements:
                ``values.at("U", nodes)``, of ``values.model.mesh.element_nodes``
    command     (deck, parameters, say) -> exit code, or nothing; help: its line in ``fem --help``; of a keyword: what
                ``fem help NAME`` says of it

    An installed package registers by an entry point of the group ``fem`` that names its module; it is imported where a
    deck or a command line has something that is not known otherwise.

    Raises
    ------
    CommandError  the name is taken, or is none for what it names; nothing, or too little, is given
    ModelError    later, in the first model that has the force: its tangent is not the derivative, with the first entry

    >>> with fem.register("SPEED", quantity=lambda of: np.linalg.norm(of["V"], axis=-1), unit="length/time"):
    ...     model = fem.parse_deck(open("inputs/sdnl100.inp").read().replace("U, V", "U, SPEED", 1))
    """
    given = (force or keyword, integrator, quantity, command)
    if sum(each is not None for each in given) != 1:
        raise CommandError(f"{name}: register one of force with keyword, integrator, quantity, command")
    if integrator is not None:
        _refuse(name, CARD, "an integrator", PARAMETERS)
        return Addition([_put(PARAMETERS, name, ()), _put(SCHEMES, name, lambda procedure: _scheme(integrator()))])
    if command is not None:
        _refuse(name, COMMAND, "a command", EXTRA)
        return Addition([_put(EXTRA, name, Command(command, help or "added by fem.register"))])
    if quantity is not None:
        if of not in KINDS:
            raise CommandError(f"{name}: of={of!r}: a quantity is of nodes or of elements")
        table, letter = KINDS[of]
        known = (known for each in QUANTITIES[table] for known in (each.name, *each.aliases))
        _refuse(name, QUANTITY, "a quantity", {*COLUMNS[letter], *known})
        made = Quantity(
            name, name, unit, axes=axes, is_extension=True, derived=quantity, at_ends=neighbours or table == "EL"
        )
        QUANTITIES[table].append(made)
        note_columns()
        return Addition([lambda: QUANTITIES[table].remove(made), note_columns])
    return Addition(list(_add_force(name, force, keyword, help)))


class Addition:
    """A registered addition, until ``remove`` is called, or to the end of a ``with`` block."""

    def __init__(self, undo: list[Callable[[], Any]]) -> None:
        self._undo = undo

    def remove(self) -> None:
        """Removes the addition."""
        while self._undo:
            self._undo.pop(0)()

    def __enter__(self) -> Addition:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def _put(table: dict[str, Any], name: str, value: Any) -> Callable[[], Any]:
    """Puts an entry into a table; returns the function that removes it."""
    table[name] = value
    return lambda: table.pop(name)


def _refuse(name: str, rule: tuple[re.Pattern[str], str], what: str, known: Collection[str]) -> None:
    if not rule[0].fullmatch(name):
        raise CommandError(f"{name!r} is no name for {what}: that is {rule[1]}")
    if squeezed(name) in map(squeezed, known):
        raise CommandError(f"there is {what} {name} already")


def _scheme(found: Scheme | Coefficients) -> Scheme:
    return found if isinstance(found, Scheme) else Scheme(found)


def _add_force(name: str, force: Family | None, keyword: Form | None, text: str) -> Iterator[Callable[[], Any]]:
    """Registers a force and its keyword; yields the functions that remove them."""
    if force is not None:
        if force.name in {family.name for family in FAMILIES}:
            raise CommandError(f"there is a force {force.name} already")
        if "return" not in getattr(getattr(force.evaluate, "function", None), "__annotations__", ()):
            raise CommandError(f"{name}: evaluate has to be a @called_kernel, annotated with what it returns (float)")
    if keyword is not None:
        _refuse(name, CARD, "a keyword", KEYWORDS)
        if not is_dataclass(keyword.make) or any(form.make is keyword.make for form in LISTED.values()):
            raise CommandError(f"{name}: its form has to make objects of a dataclass of its own")
        form = keyword._replace(into=OTHERS, statement={**keyword.statement, "extension": f"*{name}"})
        yield _put(LISTED, name, form)
        card_of(name, form)
        yield lambda: KEYWORDS.pop(name)
        yield _put(DESCRIBED, name, _described(name, form, text))
    if force is not None:
        family = replace(force, assemble=_compared(force))
        add_family(family)
        yield lambda: remove_family(family)


def _described(name: str, form: Form, text: str) -> str:
    """What ``fem help`` says of a registered keyword."""
    needed = [f"{key}= " + ("(needed)" if one.default is NEEDED else f"(default: {one.default})")
              for key, one in form.parameters.items()]  # fmt: skip
    lines = [f"*{name}", text, f"Registered by {form.make.__module__}; before the first *STEP."]
    lines += [f"Parameters: {', '.join(needed)}"] if needed else []
    if form.line is not None:
        lines += [f"Data line{'s' if form.is_list else ''}: {form.line.text}"]
    return "\n\n".join(filter(None, lines))


def _compared(family: Family) -> Callable[..., Any]:
    """The assembly of a family, with its tangent compared once."""
    compared = list[bool]()

    def assemble(model: Any, system: Any, pair: int, state: int) -> Any:
        group = family.assemble(model, system, pair, state)
        if not compared and family.acts(group):
            compare_tangent(family, group, system, pair, state)
            compared.append(True)
        return group

    return assemble


def compare_tangent(family: Family, group: Any, system: Any, pair: int = 0, state: int = 0) -> None:
    """Compare the tangent of a force with central differences, and a force without states and losses with
    differences of its energy. ModelError: they differ; the message names the first wrong entry."""
    for secant, rate in ((False, 0.0), (False, RATE), (True, RATE)):
        wrong = ""
        for seed in range(TRIES):
            wrong = next(_differences(ForceProbe(family, group, system, pair, state, secant, rate, seed)), "")
            if not wrong:
                break
        if wrong:
            where = " of a secant scheme" if secant else " in motion" if rate else ""
            raise ModelError(f"force {family.name}{where}: {wrong}")


class ForceProbe:
    """Evaluates a force as a Python function at displacements near a random place."""

    def __init__(
        self, family: Family, group: Any, system: Any, pair: int, state: int, secant: bool, rate: float, seed: int
    ) -> None:
        self.family, self.group, self.system, self.secant, self.rate = family, group, system, secant, rate
        place = np.asarray(system.coordinates, float)
        self.place, self.size = place.ravel(), float(np.ptp(place, axis=0).max(initial=0.0)) or 1.0
        rng = np.random.default_rng(seed)
        self.u0, self.u1, self.v1 = SHAKEN * self.size * rng.normal(size=(3, self.place.size))
        self.along = rng.normal(size=self.place.size)
        pairs = family.pairs(group).reshape(-1, 2)
        self.pairs = np.concatenate([np.zeros((pair, 2), np.int64), pairs])
        self.state = np.concatenate([np.zeros(state), family.states(group)])

    def at(self, way: Floats) -> tuple[float, Floats, bool, Tangent]:
        """Energy, force (3n,), whether part of it is not that energy's gradient, tangent; way (3n,) from the place."""
        n, power = self.place.size, np.zeros(BOOKS)
        tangent = Tangent(
            np.zeros((0, 2), np.int64), np.zeros((10, 0)), np.zeros(0), np.zeros((n // 3, 9)), self.pairs,
            np.zeros((len(self.pairs), 18)),
        )  # fmt: skip
        force, flow, bars = np.zeros(n), np.zeros(n), np.zeros(len(self.system.element_nodes))
        u1, v1 = self.u1 + way, self.v1 + self.rate * way
        trial = Trial(
            self.secant, 1.0, self.rate, self.rate**2, 0.0, 0.0, 1.0 / RATE, 0.0, self.u0, self.v1, np.zeros(n), u1, v1,
            np.zeros(n), bars, bars, self.place, self.state.copy(), self.state.copy(), power,
        )  # fmt: skip
        with rehearsal():
            energy = float(self.family.evaluate(trial, self.group, force, flow, tangent))
        return energy, force, bool(flow.any() or power.any()), tangent

    def slope(self, way: Floats) -> tuple[float, Floats]:
        """Derivatives of energy and force along a way (3n,)."""
        step = STEP * self.size
        ahead, behind = self.at(step * way), self.at(-step * way)
        return (ahead[0] - behind[0]) / (2.0 * step), (ahead[1] - behind[1]) / (2.0 * step)


def _differences(asked: ForceProbe) -> Iterator[str]:
    """Descriptions of the errors."""
    _, force, has_losses, tangent = asked.at(np.zeros_like(asked.place))
    blocks, cross = tangent.block.reshape(-1, 3, 3), tangent.cross.reshape(-1, 2, 3, 3)
    own = [(node, node, blocks[node]) for node in np.flatnonzero(blocks.any(axis=(1, 2))).tolist()]
    for (i, j), both in zip(asked.pairs.tolist(), cross, strict=True):
        own += [(i, j, both[0]), (j, i, both[1])]
    found = np.zeros_like(force)
    for i, j, block in own:
        found[3 * i : 3 * i + 3] += block @ asked.along[3 * j : 3 * j + 3]
    rise, slope = asked.slope(asked.along)
    size = max(float(np.abs(each).max(initial=0.0)) for each in (tangent.block, tangent.cross, slope))
    noise = 1e-9 * float(np.abs(force).max(initial=0.0)) / (STEP * asked.size)
    for dof in np.flatnonzero(np.abs(found - slope) > OFF * size + noise).tolist():
        for column in range(len(force)):
            way = np.zeros_like(force)
            way[column] = 1.0
            right = asked.slope(way)[1][dof]
            has = sum(block[dof % 3, column % 3] for i, j, block in own if (i, j) == (dof // 3, column // 3))
            if abs(has - right) > OFF * size + noise:
                of, by = (f"{what}{at % 3 + 1} of node {asked.system.labels[at // 3]}" for what, at in
                          (("F", dof), ("u", column)))  # fmt: skip
                yield f"the tangent has d {of} / d {by} = {has:.6g}, where differences of the force give {right:.6g}"
    if not (has_losses or asked.secant or len(asked.family.states(asked.group))):
        work = float(force @ asked.along)
        if abs(work - rise) > OFF * max(abs(work), abs(rise), float(np.abs(force).max(initial=0.0))):
            yield (
                f"its energy rises by {rise:.6g} along a way on which its force does the work {work:.6g}: what does "
                "not come from the energy belongs to flow"
            )
