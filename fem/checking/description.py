"""What a model holds, in lines of text; of bars in water and wind what they weigh there, how fast they sink."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fem.arrays import ROUND_OFF, Floats, Ints, first_least
from fem.checking.bars import LISTED, Bars, Ropes, collect_ropes, first_to_snap, snap_text, stiffest_bar
from fem.model import Dynamic, FluidLoad, Frequency, Jonswap, Model, Static, SteadyState, Step
from fem.model.facts import growth_of
from fem.model.gusts import Velocities
from fem.model.surroundings import current_at, wave_numbers
from fem.model.vessels import MOTIONS, moved_by

IN_WIND = ("WDD", "FLD")
NOTHING = 1e-9
"""Weight in a fluid below this fraction of that outside is nothing but round-off."""
STEEPEST = 0.142
"""Height over length at which waves break in deep water (Miche, Ann. Ponts Chauss. 114 (1944))."""


def describe_fluids(model: Model, bars: Bars) -> list[str]:
    """A line for every set that water or wind acts on."""
    lines = []
    loads = [load for step in model.steps for load in step.fluid_loads]
    found = {(load.target, load.kind): load for load in loads if load.kind in ("FDD", "WDD", "FLD")}
    lifted = {(load.target, "FDD"): load for load in loads if load.kind == "PB"}
    for (target, kind), load in (lifted | found).items():
        chosen = np.flatnonzero(np.isin(bars.elements, model.mesh.elements_of(target)))
        if len(chosen):
            name = "in wind" if kind in IN_WIND else "in water"
            lines.append(f"{name:<12}{target}: {_numbers(model, bars, chosen, load, loads)}")
    return lines


def describe_gusts(model: Model) -> list[str]:
    """A line for the turbulence of the wind, or for a wind that was measured."""
    wind = model.wind
    if wind is None or wind.gusts is None:
        return []
    gusts, speed = wind.gusts, float(np.linalg.norm(wind.vectors(model.mesh.up).sum(axis=0)))
    if isinstance(gusts, Velocities):
        u = np.linalg.norm(gusts.velocities, axis=2)
        where = "everywhere" if len(u) == 1 else f"at {len(u)} places"
        head = f"measured {where}: {u.shape[1]} samples of {gusts.dt:.6g}, speed {u.mean():.4g} in the mean, up to "
        return [f"gusts       {head}{u.max():.4g}; repeated after {gusts.duration:.6g}"]
    sizes, shares = (", ".join(f"{i * speed:.4g}" for i in gusts.intensity if i), gusts.shares(speed))
    head = f"{gusts.spectrum}, mean speed {speed:.4g}, standard deviations {sizes}, of which the table has "
    head += ", ".join(f"{100.0 * share**0.5:.3g}" for share in shares)
    return [f"gusts       {head} %; repeated after {gusts.duration:.6g}"]


def describe_waves(model: Model) -> list[str]:
    """A line for every regular wave and for every sea: length, steepness, depth over length."""
    lines, water = [], model.water
    for wave in model.waves:
        assert water is not None
        depth = water.level - water.seabed
        if isinstance(wave, Jonswap):
            peak = 2.0 * np.pi / wave.period
            k = float(wave_numbers(np.array([peak]), water.gravity, depth)[0])
            head = f"JONSWAP, Hs {wave.height:.6g}, Tp {wave.period:.6g}, {wave.count} regular waves"
            lines.append(f"waves       {head}; at the peak {_regime(wave.height, k, depth)}")
            continue
        if wave.is_sea:
            omega, k, amplitude, *_ = wave.components(water).T
            peak, height = int(amplitude.argmax()), 4.0 * float(np.sqrt(0.5 * amplitude @ amplitude))
            head = f"{len(omega)} regular waves, Hs {height:.6g}, periods {2.0 * np.pi / omega.max():.6g} to "
            head += f"{2.0 * np.pi / omega.min():.6g}; the largest: {_regime(2.0 * amplitude[peak], k[peak], depth)}"
            lines.append(f"waves       {head}")
            continue
        for omega, k, amplitude, _, direction in wave.components(water):
            head = f"AIRY, amplitude {amplitude:.6g}, period {2.0 * np.pi / omega:.6g}, towards "
            head += f"{np.degrees(direction):.4g} degrees from +x"
            lines.append(f"waves       {head}; {_regime(2.0 * amplitude, k, depth)}")
    return lines


def describe_vessels(model: Model) -> list[str]:
    """A line for every body that waves move: standard deviations of its six motions."""
    lines, sea = [], model.sea
    for body in model.bodies if len(sea) else ():
        if body.rao is not None:
            swings = moved_by(model.raos[body.rao], sea, body.heading)
            deviations = np.sqrt(0.5 * (np.abs(swings) ** 2).sum(axis=1)) * np.repeat([1.0, 180.0 / np.pi], 3)
            found = ", ".join(f"{name} {size:.4g}" for name, size in zip(MOTIONS, deviations, strict=True))
            node = model.mesh.node_names[model.mesh.nodes_of(body.node)[0]]
            lines.append(f"vessel      node {node} by RAO {body.rao}, standard deviations: {found} degrees")
    return lines


def _regime(height: float, k: float, depth: float) -> str:
    """Length and steepness of a wave, how deep the water is for it."""
    length = 2.0 * np.pi / k
    part = depth / length
    kind = "deep" if part > 0.5 else "intermediate" if part > 0.05 else "shallow"
    limit = STEEPEST * np.tanh(k * depth)
    breaks = f", would break (above {limit:.3g})" if height / length > limit else ""
    return f"length {length:.6g}, steepness {height / length:.3g}{breaks}, depth over length {part:.3g} ({kind})"


def _numbers(model: Model, bars: Bars, chosen: Ints, drag: FluidLoad, loads: list[FluidLoad]) -> str:
    """Weight, terminal velocity, stream, drag over weight of some bars."""
    gravity = max((abs(d.value) for s in model.steps for d in s.distributed_loads if d.kind == "GRAV"), default=0.0)
    thickness = growth_of(model)[0][bars.elements[chosen]]
    weight = bars.density[chosen] * bars.area[chosen] * gravity
    water, is_wind = model.water, drag.kind in IN_WIND
    for load in loads:
        if load.kind == "PB" and water is not None:
            wet = np.isin(bars.elements[chosen], model.mesh.elements_of(load.target))
            area = 0.25 * np.pi * (load.diameter + 2.0 * thickness) ** 2
            weight = weight - np.where(wet, load.magnitude * water.density * water.gravity * area, 0.0)
    weight = np.where(np.abs(weight) < NOTHING * bars.density[chosen] * bars.area[chosen] * gravity, 0.0, weight)
    text = f"weight per length {_range(weight)}, {weight @ bars.length0[chosen]:.6g} in total"
    if drag.kind == "PB":
        return text
    height = model.mesh.coordinates[bars.connectivity[chosen], model.mesh.up]
    speed, waves = _fastest(model, drag, height), _orbital(model, drag, height)
    text += f"; flow speed up to {speed:.4g}" + (f", waves up to {waves:.4g}" if waves else "")
    speed, fall, coefficient, gallops = speed + waves, "", drag.coefficient, ""
    if drag.kind == "FLD":
        coefficient, slope = model.drag_laws[str(coefficient)].at(drag.angle)
        grows = "grows in a fast enough wind" if coefficient + slope < 0.0 else "does not grow"
        gallops = f"; C_D + dC_L/dalpha {coefficient + slope:.4g} at {drag.angle:g} degrees: vertical motion {grows}"
        gallops += " (Den Hartog)"
    if isinstance(coefficient, str):
        law = model.drag_laws[coefficient].rows
        slope = (law[-1][1] - law[-2][1]) / (law[-1][0] - law[-2][0])
        force = np.interp(speed, *np.array(law).T) + slope * max(speed - law[-1][0], 0.0)
    else:
        fluid = model.wind if is_wind else model.water
        assert fluid is not None
        width = drag.diameter + (0.0 if is_wind else 2.0 * thickness)
        constant = drag.magnitude * 0.5 * fluid.density * width * coefficient
        force = constant * speed**2
        if np.all(constant > 0.0):
            terminal = np.sign(weight) * np.sqrt(np.abs(weight) / constant)
            rises = bool(np.all(terminal < 0.0))
            fall = f"; {'falls' if is_wind else 'rises' if rises else 'sinks'} broadside at "
            fall += _range(-terminal if rises else terminal)
    text += f"; drag per length up to {np.max(force):.4g}{fall}"
    if np.all(weight != 0.0):
        text += f"; drag over weight up to {np.max(force / np.abs(weight)):.4g}"
    return text + gallops


def _fastest(model: Model, drag: FluidLoad, height: Floats) -> float:
    """Largest speed of the stream at some heights, with its amplitudes as far as their points or terms tell."""
    largest = _factors(model, drag)
    if drag.kind in IN_WIND and model.wind is not None:
        level = model.water.level if model.water else 0.0
        highest = float(np.maximum(height - level, 0.0).max())
        rise: float = (highest / model.wind.reference) ** model.wind.power
        return rise * float(np.linalg.norm(np.array(largest) @ model.wind.vectors(model.mesh.up)))
    assert model.water is not None
    return largest[0] * float(np.linalg.norm(current_at(model.water, height), axis=-1).max())


def _factors(model: Model, drag: FluidLoad) -> list[float]:
    """Largest values of the two amplitudes of a load, as far as their points or terms tell."""
    largest = [1.0, 1.0]
    for at, name in enumerate(drag.streams):
        if name is not None:
            amplitude = model.amplitudes[name]
            terms = abs(amplitude.mean) + sum(float(np.hypot(a, b)) for a, b in amplitude.fourier)
            largest[at] = max(terms, np.abs(amplitude.points[:, 1]).max(initial=0.0))
    return largest


def _orbital(model: Model, drag: FluidLoad, height: Floats) -> float:
    """Largest speed of the water in waves at some heights: of regular waves that of all their crests, of a sea four
    times its standard deviation, which one wave in 3000 exceeds (Rayleigh: exp(-8))."""
    if drag.kind in IN_WIND or model.water is None:
        return 0.0
    depth, total = model.water.level - model.water.seabed, 0.0
    z = min(max(float(height.max()) - model.water.level, -depth), 0.0)
    for wave in model.waves:
        omega, k, amplitude = wave.components(model.water)[:, :3].T
        speeds = amplitude * omega * (np.exp(k * z) + np.exp(-k * (z + 2.0 * depth))) / -np.expm1(-2.0 * k * depth)
        total += 4.0 * float(np.sqrt(0.5 * speeds @ speeds)) if wave.is_sea else float(speeds.sum())
    return _factors(model, drag)[1] * total


def _range(values: Floats) -> str:
    """The least and the largest, or the one they are."""
    low, high = float(values.min()), float(values.max())
    return f"{low:.6g}" if high - low <= 1e-9 * max(abs(low), abs(high)) else f"{low:.6g} .. {high:.6g}"


def describe_ropes(model: Model, ropes: Ropes) -> list[str]:
    """A line for each of the first ones."""
    lines: list[str] = []
    for rope in range(min(len(ropes.elements), LISTED)):
        element, node = model.mesh.element_names[ropes.elements[rope]], model.mesh.node_names[ropes.pulleys[rope]]
        first, second = ropes.branches[rope]
        text = f"element {element} over node {node}: {first:.6g} + {second:.6g}, L0 {ropes.length0[rope]:.6g}"
        lines.append(f"{'' if lines else 'pulleys':<12}{text}, mu {ropes.friction[rope]:.6g}")
    more = len(ropes.elements) - len(lines)
    return [*lines, f"{'':<12}and {more} more"] if more > 0 else lines


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
    if any(section.strain == "GREEN" and model.materials[section.material].young for section in model.sections):
        lines.append("strain      GREEN: T at an elongation of 0.5 % is 0.75 % above E A e, 1.5 % above LOG (Abaqus)")
    if model.rest_lengths and bars.labels.size:
        most = first_least(-bars.stretch)
        lines.append(f"stretch     |D|/L0 - 1 = {bars.stretch[most]:.6g} at most (element {bars.labels[most]})")
    lines += describe_ropes(model, ropes)
    lines += describe_gusts(model) + describe_waves(model) + describe_vessels(model) + describe_fluids(model, bars)
    stiffest = stiffest_bar(bars)
    if stiffest is None:
        return [*lines, "stiffest    no elastic bar has mass"]
    rule = bars.rule[stiffest]
    held = ", one end fixed" if rule == "ONE POINT" else ""
    lines.append(f"stiffest    bar {bars.labels[stiffest]}: period {bars.period[stiffest]:.6g} ({rule} mass{held})")
    if (first := first_to_snap(bars)) is not None:
        lines.append(f"snap time   {snap_text(bars, first, 6)} (bar {bars.labels[first]} can go slack)")
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
    number_of = f"{procedure.period / procedure.dt:.6g}" if procedure.dt > 0 else ""
    count = f"{number_of} {control} increment{'s' * (number_of != '1')}".lstrip()
    dt = f"{procedure.dt:g}" if procedure.dt > 0 else "0.9 of the critical one"
    text = f"{name}: {kind}, dt {dt}, period {procedure.period:g}, {count}, {geometry}"
    stiffest = stiffest_bar(bars)
    if isinstance(procedure, Dynamic) and stiffest is not None and procedure.dt > 0:
        text += f"; dt is {procedure.dt / bars.period[stiffest]:.3g} periods of the stiffest bar"
    return text


def _names(sets: Iterable[str]) -> str:
    names = list(sets)
    return f"{len(names)}" + (f": {', '.join(names)}" if names else "")
