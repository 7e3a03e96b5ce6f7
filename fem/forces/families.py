"""Families of forces: each in a file of its own, and one line here.

A family has a group of arrays (a NamedTuple) that says what it acts on, and a kernel that adds its forces:

    evaluate(trial, own, force, flow, tangent) -> energy stored at u1
        force    (3n,)  internal force, added to: what pushes along +x is subtracted
        flow     (3n,)  the part of it that does not come from the stored energy, added to
        tangent         derivative of the weighted force, added to ``block`` and ``cross``
    values(own, index, u, v, row)   E, S, N, T of its element ``index``

Its energy, its place in every integrator and linear solver, restarts and tables follow from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel
from fem.forces.bars.bar import VISCOUS, Bars
from fem.forces.springs import DAMPING, Springs, evaluate_springs, spring_values

NOTHING = np.zeros((0, 2), np.int64)
FIRST = 3
"""Elements of the first family have this number; 0: bars, 1: springs between dofs, 2: point masses."""


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of force.

    assemble   (model, system, pair, state) -> its group, with empty arrays where the model has none of it; pair, state:
               from where on its own stand in ``Tangent.pairs`` and in the states of a trial
    evaluate, values  kernels, as above
    pairs      its group -> (p, 2) nodes it couples
    states     its group -> (s,) what it remembers before anything has moved
    elements   its group -> (q,) indices of the elements whose values it gives
    symmetric  its tangent is
    smooth     its force is: there are tangent maps
    """

    name: str
    assemble: Callable[[Any, Any, int, int], Any]
    evaluate: Any
    values: Any = None
    pairs: Callable[[Any], Ints] = lambda own: NOTHING
    states: Callable[[Any], Floats] = lambda own: np.zeros(0)
    elements: Callable[[Any], Ints] = lambda own: NOTHING[:, 0]
    symmetric: bool = True
    smooth: bool = True

    def acts(self, own: Any) -> bool:
        """A model has some of it."""
        return any(each.size for each in own if isinstance(each, np.ndarray))


FAMILIES: list[Family] = []
"""All of them, bars and springs apart."""


def acting_families(owns: tuple[Any, ...]) -> bool:
    """A model with these groups has any family."""
    return any(family.acts(own) for family, own in zip(FAMILIES, owns, strict=True))


def are_symmetric(owns: tuple[Any, ...]) -> bool:
    """All families that act have symmetric tangents."""
    return all(family.symmetric or not family.acts(own) for family, own in zip(FAMILIES, owns, strict=True))


def rough_ones(owns: tuple[Any, ...]) -> list[str]:
    """Names of those that act and have no tangent map."""
    return [one.name for one, own in zip(FAMILIES, owns, strict=True) if one.acts(own) and not one.smooth]


def has_flow(bars: Bars, springs: Springs, owns: tuple[Any, ...]) -> bool:
    """Some force may not come from stored energy."""
    viscous = np.any(bars.constants[VISCOUS]) or np.any(springs.constants[:, DAMPING])
    return bool(viscous) or acting_families(owns)


def asking_all(head: str, before: str, each: str, after: str) -> Any:
    """A kernel that asks springs, then all families: text, as no loop of a kernel goes over groups of several kinds."""
    asked = [each.format(number=FIRST + k, place=k) for k in range(len(FAMILIES))]
    if asked:  # lanes have none of them
        asked = ["    if families is not None:", *asked]
    lines = [f"def {head}:", before, *asked, after]
    known: dict[str, Any] = {"__name__": __name__, "of_springs": evaluate_springs, "spring_values": spring_values}
    for place, family in enumerate(FAMILIES):
        known |= {f"evaluate_{place}": family.evaluate, f"values_{place}": family.values or no_values}
    exec(compile("\n".join(lines), __file__, "exec"), known)
    return known[head.partition("(")[0]]


@inner_kernel
def no_values(own: Any, index: int, u: Any, v: Any, row: Any) -> None:
    """Of elements that only carry a force: zeros."""


def _evaluate() -> Any:
    return asking_all(
        "evaluate_all(trial, springs, families, force, flow, tangent)",
        "    energy = of_springs(trial, springs, force, flow, tangent) if springs.dofs.shape[0] > 0 else 0.0",
        "        energy += evaluate_{place}(trial, families[{place}], force, flow, tangent)",
        "    return energy",
    )


def _values() -> Any:
    return asking_all(
        "values_of_all(number, index, springs, families, u, v, row)",
        "    if number == 1: spring_values(springs, index, u, v, row)",
        "        if number == {number}: values_{place}(families[{place}], index, u, v, row)",
        "    return None",
    )


evaluate_others = inner_kernel(_evaluate())
"""(trial, springs, families, force, flow, tangent) -> the energy that springs and all families store."""
values_of_others = inner_kernel(_values())
"""(number, index, springs, families, u, v, row): E, S, N, T of an element that is no bar."""


@contextmanager
def registered(family: Family) -> Iterator[None]:
    """With one more family, as long as it takes: what a line in ``FAMILIES`` does for good."""
    FAMILIES.append(family)
    evaluate_others.function, values_of_others.function = _evaluate(), _values()
    try:
        yield
    finally:
        FAMILIES.remove(family)
        evaluate_others.function, values_of_others.function = _evaluate(), _values()
