"""What a model holds, in lines of text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fem.arrays import ROUND_OFF, first_least
from fem.checking.bars import Bars, stiffest_bar
from fem.checking.fluids import describe_fluids, describe_waves
from fem.checking.pulleys import collect_ropes, describe_ropes
from fem.model import Dynamic, Frequency, Model, Static, SteadyState, Step


def describe(model: Model, bars: Bars) -> list[str]:
    """Counts, extent, mass, lengths, the stiffest bar."""
    mesh, kinds = model.mesh, {block.kind: len(block.labels) for block in model.mesh.blocks}
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
    lines = [
        f"nodes       {len(mesh.node_labels)}",
        f"elements    {sum(kinds.values())}: {listed}",
        f"node sets   {_names(mesh.node_sets)}",
        f"elem. sets  {_names(mesh.element_sets)}",
    ]
    if len(mesh.coordinates):
        low, high = mesh.coordinates.min(axis=0), mesh.coordinates.max(axis=0)
        box = ", ".join(f"{axis} {a:g} .. {b:g}" for axis, a, b in zip("xyz", low, high, strict=True))
        lines.append(f"extent      {box}")
    point = sum(mass.mass * len(mesh.elements_of(mass.element_set)) for mass in model.masses)
    by_rule: dict[str, float] = {}
    for rule, mass in zip(bars.rule, bars.mass, strict=True):
        by_rule[rule] = by_rule.get(rule, 0.0) + float(mass)
    rules = ", ".join(f"{rule} {mass:.6g}" for rule, mass in by_rule.items()) or "none"
    ropes = collect_ropes(model)
    over = f"; over pulleys {ropes.mass.sum():.6g}" if len(ropes.mass) else ""
    whole = bars.mass.sum() + point + ropes.mass.sum()
    lines.append(f"mass        {whole:.6g}: bars {rules}; point masses {point:.6g}{over}")
    if bars.labels.size:
        short, long = first_least(bars.length0), first_least(-bars.length0)
        lines.append(f"bar length  {bars.length0[short]:.6g} (element {bars.labels[short]})")
        if bars.length0[long] > bars.length0[short] * (1 + ROUND_OFF):
            lines[-1] += f" .. {bars.length0[long]:.6g} (element {bars.labels[long]})"
    if model.rest_lengths and bars.labels.size:
        most = first_least(-bars.stretch)
        lines.append(f"stretch     |D|/L0 - 1 = {bars.stretch[most]:.6g} at most (element {bars.labels[most]})")
    lines += describe_ropes(model, ropes)
    return lines + describe_waves(model) + describe_fluids(model, bars) + _stiffest_lines(bars)


def _stiffest_lines(bars: Bars) -> list[str]:
    """Shortest period and snap time, with the bar that sets them."""
    stiffest = stiffest_bar(bars)
    if stiffest is None:
        return ["stiffest    no elastic bar has mass of its own"]
    rule = bars.rule[stiffest]
    held = ", one end held" if rule == "ONE POINT" else ""
    lines = [f"stiffest    bar {bars.labels[stiffest]}: period {bars.period[stiffest]:.6g} ({rule} mass{held})"]
    slack = np.flatnonzero(bars.can_go_slack & (bars.snap_time > 0))
    if slack.size:
        first = slack[first_least(bars.snap_time[slack])]
        lines.append(f"snap time   L0/(2c) = {bars.snap_time[first]:.6g} (bar {bars.labels[first]} can go slack)")
    return lines


def describe_step(number: int, step: Step, bars: Bars) -> str:
    """One line: procedure, increments, and the increment against the stiffest bar."""
    name, procedure = f"{number}" + (f" {step.name}" if step.name else ""), step.procedure
    geometry = "NLGEOM" if step.nlgeom else "geometrically linear"
    if isinstance(procedure, Frequency):
        return f"{name}: FREQUENCY, {procedure.modes} modes, {geometry}"
    if isinstance(procedure, SteadyState):
        found = procedure.frequencies()
        how = f"{procedure.modes} modes" if procedure.modes else "DIRECT"
        count = f"{len(found)} frequencies" + (" and more between modes," if procedure.parted else "")
        return f"{name}: STEADY STATE DYNAMICS, {how}, {count} from {found[0]:g} to {found[-1]:g}, {geometry}"
    kind = "STATIC" if isinstance(procedure, Static) else f"DYNAMIC {procedure.integrator}"
    control = "equal" if procedure.direct else "automatic"
    count = f"{procedure.period / procedure.dt:.6g} " if procedure.dt > 0 else ""
    dt = f"{procedure.dt:g}" if procedure.dt > 0 else "0.9 of the critical one"
    text = f"{name}: {kind}, dt {dt}, period {procedure.period:g}, {count}{control} increments, {geometry}"
    stiffest = stiffest_bar(bars)
    if isinstance(procedure, Dynamic) and stiffest is not None and procedure.dt > 0:
        text += f"; dt is {procedure.dt / bars.period[stiffest]:.3g} periods of the stiffest bar"
    return text


def _names(sets: Iterable[str]) -> str:
    names = list(sets)
    return f"{len(names)}" + (f": {', '.join(names)}" if names else "")
