"""``fem.check`` and ``fem check``: description of a deck and suspicious values in it, without solving anything.

Only the ``Model`` is used. Numbers have the deck's own units. To add a check: a function ``(model, bars) -> list[str]``
and a row in ``CHECKS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fem.arrays import ROUND_OFF, Flags, Floats, Ints, distinct, first_least, parts
from fem.assembly.cases import Span
from fem.assembly.environment import first_environment, next_environment
from fem.assembly.rigidity import count, members_of, not_counted
from fem.assembly.sudden import pull, sudden
from fem.assembly.system import assemble
from fem.deck import read_model
from fem.errors import ModelError, listed
from fem.model import FluidLoad, Jonswap, Model, notices
from fem.model.curves import Follow, evaluate
from fem.model.facts import (
    added_mass_per_length,
    distances,
    euler_loads,
    growth_of,
    loads_of,
    natural_lengths,
    of_sections,
)
from fem.model.gusts import Velocities
from fem.model.materials import snap_time
from fem.model.mesh import BARS
from fem.model.notices import held_dofs, held_nodes
from fem.model.quantities import in_newtons
from fem.model.steps import Dynamic, Step
from fem.model.surroundings import STEEPEST, WHOLE, breaking, current_at, wave_numbers
from fem.model.taut_starts import told_of_starts
from fem.model.vessels import MOTIONS, moved_by

MASSES = {"LUMPED": (0.5, 0.0), "CONSISTENT": (1.0 / 3.0, 1.0 / 6.0), "ONE POINT": (0.25, 0.25)}
"""Fractions of the mass of a bar, by mass rule: on the diagonal of its mass matrix, and off the diagonal."""
SINGULAR = 1e-9
LISTED = 8


@dataclass(frozen=True, slots=True)
class CheckedBars:
    """All T3D2 and T2D2 with a section, by element order.

    labels, elements (their indices), connectivity, length0, area  (m,) (m, 2) ...; young is NaN where inextensible
    density       (m,) with marine growth, and nonstructural mass in the first step
    carried       (m, 2) its share of point masses at its ends, by stiffness; infinite at supports of bars with any
    compliance    (m,) sum of 1/M over both ends, M the total mass of a node; 0 if it is held or massless
    stretch       (m,) |D|/L0 - 1, 0 without a rest length
    can_go_slack  (m,) whether a sign of the force is cut off or weakened
    """

    labels: Ints
    elements: Ints
    connectivity: Ints
    length0: Floats
    stretch: Floats
    area: Floats
    density: Floats
    young: Floats
    carried: Floats
    compliance: Floats
    rule: tuple[str, ...]
    can_go_slack: Flags

    @property
    def mass(self) -> Floats:
        return self.density * self.area * self.length0

    @property
    def stiffness(self) -> Floats:
        return self.young * self.area / self.length0

    @property
    def period(self) -> Floats:
        """2 pi / omega of each bar alone with the masses it carries, by its mass rule; 0: no mass, NaN: inextensible.
        omega^2 = k g.M^-1 g, g = (1, -1); the largest of all bars bounds that of the model (Irons & Treharne, 1971).
        ONE POINT mass does not resist the stretching of a free bar: its value is that of a bar with one end held."""
        diagonal, beside = self.mass * np.array([MASSES[rule] for rule in self.rule]).reshape(-1, 2).T
        with np.errstate(divide="ignore", invalid="ignore"):
            p, q = 1.0 / (diagonal[:, None] + self.carried).T
            gap = 1.0 - (beside * p) * (beside * q)
            square = np.where(gap > SINGULAR, (p + q + 2.0 * beside * p * q) / gap, np.maximum(p, q))
            return np.asarray(2 * np.pi / np.sqrt(self.stiffness * square))

    @property
    def rebound(self) -> Floats:
        """pi/omega of each bar against the masses at its ends; NaN for inextensible ones, infinite without any."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.pi / np.sqrt(self.stiffness * self.compliance))

    @property
    def snap_time(self) -> Floats:
        """As ``materials.snap_time``; with point masses half of sqrt(2)/omega, which is that in a chain of bars alone.
        0 without mass of their own, NaN for inextensible bars."""
        wave = snap_time(self.length0, self.density, self.young)
        return np.where(self.carried.any(axis=1) & (wave > 0.0), self.rebound / (np.pi * np.sqrt(2.0)), wave)


def collect_bars(model: Model) -> CheckedBars:
    """Bars of the sections in force; a later section of the same element replaces an earlier one."""
    mesh = model.mesh
    owner = np.full(len(mesh.element_labels), -1)
    for number, section in enumerate(model.sections):
        owner[mesh.elements_of(section.element_set)] = number
    chosen = np.flatnonzero(mesh.is_of(*BARS) & (owner >= 0))
    sections = [model.sections[number] for number in owner[chosen]]
    materials = [model.materials[section.material] for section in sections]
    lengths = natural_lengths(mesh, model.rest_lengths)
    length0, area = lengths[chosen], np.array([section.area for section in sections], float)
    gone = model.steps[0].shed if model.steps else ()
    added = added_mass_per_length(model, (mass for mass in model.nonstructural if mass.name not in gone), lengths)
    density = np.array([material.density for material in materials], float) + added[chosen] / area
    young = np.array([m.instant_modulus or np.nan for m in materials], float)
    ends = mesh.element_nodes[chosen]
    return CheckedBars(
        labels=mesh.element_names[chosen],
        elements=chosen,
        connectivity=ends,
        length0=length0,
        stretch=distances(mesh)[chosen] / length0 - 1.0,
        area=area,
        density=density,
        young=young,
        **_masses_at(model, ends, 0.5 * density * area * length0, np.nan_to_num(young * area / length0)),
        rule=tuple(section.mass_rule for section in sections),
        can_go_slack=np.array([m.compression_ratio < 1 or m.tension_ratio < 1 for m in materials], bool),
    )


def _masses_at(model: Model, ends: Ints, half: Floats, stiffness: Floats) -> dict[str, Floats]:
    """``carried`` and ``compliance`` of ``CheckedBars``, from half of the mass of each bar (m,)."""
    count = len(model.mesh.node_labels)
    point, held = np.zeros(count), held_nodes(model)
    for mass in model.masses:
        np.add.at(point, model.mesh.element_nodes[model.mesh.elements_of(mass.element_set), 0], mass.mass)
    whole = point + np.bincount(ends.ravel(), np.repeat(half, 2), count)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = point / np.bincount(ends.ravel(), np.repeat(stiffness, 2), count)
        carried = np.nan_to_num(share[ends] * stiffness[:, None])
        compliance = np.where(held | (whole <= 0.0), 0.0, 1.0 / whole)[ends].sum(axis=1)
    carried[held[ends] & (carried.sum(axis=1, keepdims=True) > 0.0)] = np.inf
    return {"carried": carried, "compliance": compliance}


def stiffest_bar(bars: CheckedBars) -> int | None:
    """Index of the elastic bar with mass and the shortest period; None if there is none."""
    period = np.where(np.isfinite(bars.period) & (bars.period > 0), bars.period, np.inf)
    return first_least(period) if np.isfinite(period).any() else None


def first_to_snap(bars: CheckedBars) -> int | None:
    """Index of the bar with the shortest snap time among those with mass that can go slack; None if there is none."""
    able = np.flatnonzero(bars.can_go_slack & (bars.snap_time > 0.0) & (bars.snap_time < np.inf))
    return int(able[first_least(bars.snap_time[able])]) if able.size else None


def snap_text(bars: CheckedBars, place: int, digits: int = 3) -> str:
    formula = "0.71/omega with its point masses" if bars.carried[place].any() else "L0/(2c)"
    return f"{formula} = {bars.snap_time[place]:.{digits}g}"


def some(labels: Sequence[object] | Ints) -> str:
    """A few of many labels, as text."""
    return listed(labels, LISTED)


class CheckedRopes(NamedTuple):
    """p PULLEY elements with a section, by element order.

    elements, pulleys  (p,) their indices, nodes between their ends
    branches           (p, 2) distances before and beyond the pulley
    length0, mass, friction  (p,) L0, rho A L0, mu
    """

    elements: Ints
    pulleys: Ints
    branches: Floats
    length0: Floats
    mass: Floats
    friction: Floats


def collect_ropes(model: Model) -> CheckedRopes:
    """Ropes over pulleys of the sections in force, as in ``collect_bars``."""
    mesh = model.mesh
    per_length = of_sections(model, lambda section, material: material.density * section.area, np.nan)
    friction = np.zeros(len(per_length))
    for pulley in model.pulleys:
        friction[mesh.elements_of(pulley.element_set)] = pulley.friction
    elements = np.flatnonzero((mesh.pulley_nodes >= 0) & ~np.isnan(per_length))
    pulleys, x = mesh.pulley_nodes[elements], mesh.coordinates
    branches = np.linalg.norm(x[mesh.element_nodes[elements]] - x[pulleys][:, None], axis=2)
    length0 = natural_lengths(mesh, model.rest_lengths)[elements]
    return CheckedRopes(elements, pulleys, branches, length0, per_length[elements] * length0, friction[elements])


IN_WIND = ("WDD", "FLD")
NOTHING = 1e-9
"""Weight in a fluid below this fraction of the weight in air that is a rounding error."""


def describe_fluids(model: Model, bars: CheckedBars) -> list[str]:
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
    """A line for the turbulence of the wind, or for a measured wind."""
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
            own, whole = wave.crossing_period(wave.low, wave.high), wave.crossing_period(*WHOLE)
            head += f", Tz {own:.4g} ({100.0 * (own / whole - 1.0):.2g} % longer than that of the whole spectrum)"
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


def breaking_waves(model: Model, _: CheckedBars) -> list[str]:
    """Regular waves that are too steep."""
    return [text for wave in model.waves if model.water and (text := breaking(wave, model.water))]


def describe_vessels(model: Model) -> list[str]:
    """A line for every body moved by waves: standard deviations of its six motions."""
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
    """Length, steepness and depth-to-length ratio of a wave, as text."""
    length = 2.0 * np.pi / k
    part = depth / length
    kind = "deep" if part > 0.5 else "intermediate" if part > 0.05 else "shallow"
    limit = STEEPEST * np.tanh(k * depth)
    breaks = f", would break (above {limit:.3g})" if height / length > limit else ""
    return f"length {length:.6g}, steepness {height / length:.3g}{breaks}, depth over length {part:.3g} ({kind})"


def _numbers(model: Model, bars: CheckedBars, chosen: Ints, drag: FluidLoad, loads: list[FluidLoad]) -> str:
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
    """Largest speed of the stream at some heights, as far as the points or terms of its amplitudes determine it."""
    largest = _factors(model, drag)
    if drag.kind in IN_WIND and model.wind is not None:
        level = model.water.level if model.water else 0.0
        highest = float(np.maximum(height - level, 0.0).max())
        rise: float = (highest / model.wind.reference) ** model.wind.power
        return rise * float(np.linalg.norm(np.array(largest) @ model.wind.vectors(model.mesh.up)))
    assert model.water is not None
    return largest[0] * float(np.linalg.norm(current_at(model.water, height), axis=-1).max())


def _factors(model: Model, drag: FluidLoad) -> list[float]:
    """Largest values of the two amplitudes of a load, as far as their points or terms determine them."""
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
    """The smallest and the largest value, or the only one."""
    low, high = float(values.min()), float(values.max())
    return f"{low:.6g}" if high - low <= 1e-9 * max(abs(low), abs(high)) else f"{low:.6g} .. {high:.6g}"


def describe_ropes(model: Model, ropes: CheckedRopes) -> list[str]:
    """A line for each of the first ones."""
    lines: list[str] = []
    for rope in range(min(len(ropes.elements), LISTED)):
        element, node = model.mesh.element_names[ropes.elements[rope]], model.mesh.node_names[ropes.pulleys[rope]]
        first, second = ropes.branches[rope]
        text = f"element {element} over node {node}: {first:.6g} + {second:.6g}, L0 {ropes.length0[rope]:.6g}"
        lines.append(f"{'' if lines else 'pulleys':<12}{text}, mu {ropes.friction[rope]:.6g}")
    more = len(ropes.elements) - len(lines)
    return [*lines, f"{'':<12}and {more} more"] if more > 0 else lines


def describe(model: Model, bars: CheckedBars) -> list[str]:
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
        box = ", ".join(f"{axis} {a:g} .. {b:g}" for axis, a, b in zip("xyz", low + 0.0, high + 0.0, strict=True))
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


def describe_step(number: int, step: Step, bars: CheckedBars) -> str:
    """One line: procedure, increments, and the increment against the stiffest bar."""
    name = f"{number}" + (f" {step.name}" if step.name else "")
    geometry = "NLGEOM" if step.nlgeom else "geometrically linear"
    if step.modes:
        return f"{name}: FREQUENCY, {step.modes.modes} modes, {geometry}"
    if step.buckling:
        return f"{name}: BUCKLE, {step.buckling.factors} factors"
    if response := step.harmonic:
        found = response.frequencies()
        how = f"{response.modes} modes" if response.modes else "DIRECT"
        count = f"{len(found)} frequencies" + (" and more between modes," if response.parted else "")
        return f"{name}: STEADY STATE DYNAMICS, {how}, {count} from {found[0]:g} to {found[-1]:g}, {geometry}"
    procedure = step.timed
    kind = f"DYNAMIC {procedure.integrator}" if step.dynamic else "STATIC"
    control = "equal" if procedure.direct else "automatic"
    number_of = f"{procedure.period / procedure.dt:.6g}" if procedure.dt > 0 else ""
    count = f"{number_of} {control} increment{'s' * (number_of != '1')}".lstrip()
    dt = f"{procedure.dt:g}" if procedure.dt > 0 else "0.9 of the critical one"
    text = f"{name}: {kind}, dt {dt}, period {procedure.period:g}, {count}, {geometry}"
    stiffest = stiffest_bar(bars)
    if step.dynamic and stiffest is not None and procedure.dt > 0:
        text += f"; dt is {procedure.dt / bars.period[stiffest]:.3g} periods of the stiffest bar"
    return text


def struts(model: Model, bars: CheckedBars) -> tuple[Ints, Floats, Floats]:
    """Single bars that bend, hinged at both ends, under compression: places in ``bars``; N at the positions and with
    the prestress of the deck; ``euler_loads``."""
    limits = euler_loads(model)
    stress, strain = np.zeros(len(limits)), np.full(len(limits), "GREEN", object)
    for section in model.sections:
        strain[model.mesh.elements_of(section.element_set)] = section.strain
    for each in model.initial_conditions:
        if each.kind == "STRESS":
            stress[model.mesh.elements_of(each.target)] = each.value
    kept = bars.elements
    force = bars.area * (bars.young * loads_of(1.0 + bars.stretch, strain[kept]) + stress[kept])
    chosen = np.flatnonzero((limits[kept] > 0.0) & (force < 0.0))
    return chosen, force[chosen], limits[kept[chosen]]


def describe_struts(model: Model, bars: CheckedBars) -> list[str]:
    """A line with the strut that is nearest to its Euler load."""
    chosen, force, limit = struts(model, bars)
    if not chosen.size:
        return []
    used = -force / limit
    most = int(used.argmax())
    told = f"N {force[most]:.6g} of Euler's {-limit[most]:.6g} (element {bars.labels[chosen[most]]})"
    return [f"struts      use at most {used[most]:.3g} of their buckling load, at the positions of the deck: {told}"]


def buckled_struts(model: Model, bars: CheckedBars) -> list[str]:
    """Struts beyond their Euler load; the model keeps them straight."""
    return [
        f"element {bars.labels[place]} is pressed by {-force:.4g}, {-force / limit:.3g} times its Euler load: it would "
        "buckle, and stays straight here (divide it into several bars)"
        for place, force, limit in zip(*struts(model, bars), strict=True)
        if -force > limit
    ][:LISTED]


MOST_COUNTED = 600
"""Dofs of the nodes up to which mechanisms are counted here: half a second."""


def describe_rigidity(model: Model) -> list[str]:
    """A line with the states of self-stress and the mechanisms of a small structure, held as in the first step."""
    if 3 * len(model.mesh.node_labels) > MOST_COUNTED or model.earlier is not None or not model.steps:
        return []
    try:
        system = assemble(model)
        if not_counted(system):
            return []
        nothing, (u, _) = np.zeros(system.size), system.initial_motion
        before, span = first_environment(system, u), Span(0.0, 0.0, False)
        now = next_environment(system, before, model.steps[0].still, span, u, nothing, nothing)
        return [f"rigidity    {count(members_of(system, now.supports, u))}"]
    except ModelError:  # ``sudden_starts`` reports it
        return []


def _names(sets: Iterable[str]) -> str:
    names = list(sets)
    return f"{len(names)}" + (f": {', '.join(names)}" if names else "")


LENGTH_RATIO = 1e3
"""Ratio of the longest to the shortest bar beyond which wrong units or a wrong node are likelier than intent."""
UNRESOLVED_PERIODS = 10.0
"""Increments of this many periods of the stiffest bar do not resolve its vibration (SDNL100 at T/40: 133)."""
NO_JUMP = 1e-9
"""Displacements with a smaller relative difference are the same."""
LOW_MODULUS = 1e3
HIGH_DENSITY = 1e5
"""Osmium, the densest solid, has 2.26e4 kg/m^3; the softest gels have E of about 1e3 Pa."""
SOFT_STRAIN = 0.1


def loose_nodes(model: Model, bars: CheckedBars) -> list[str]:
    """Nodes without element and equation; coincident nodes that are not connected."""
    labels, links = model.mesh.node_names, _links(model)
    used = np.isin(np.arange(len(labels)), links)
    found = [] if used.all() else [f"nodes without elements: {some(labels[~used])}"]
    first: dict[tuple[float, ...], int] = {}
    joined = {frozenset(link) for link in links}
    twins = []
    for k, place in enumerate(map(tuple, model.mesh.coordinates.tolist())):
        other = first.setdefault(place, k)
        if other != k and frozenset((k, other)) not in joined:
            twins.append(f"{labels[other]} and {labels[k]}")
    if twins:
        found.append(f"nodes at the same point, not connected: {'; '.join(twins[:LISTED])}")
    return found


def _links(model: Model) -> list[tuple[int, int]]:
    """Pairs of node indices that an element, an equation or a link joins (a node with itself: grounded elements)."""
    links = [(first, second) for first, second in model.mesh.legs[0].tolist()]
    for equation in model.equations:
        links += [(equation.terms[0][0], term[0]) for term in equation.terms]
    for body in model.bodies:
        (node,) = model.mesh.nodes_of(body.node)
        links += [(int(node), pinned) for pinned in model.mesh.nodes_of(body.pinned).tolist()]
    for plane in model.planes:
        links += [(first, second) for first, second in plane.pairs(model.mesh).tolist()]
    return links + list(model.links)


def bars_of_odd_length(model: Model, bars: CheckedBars) -> list[str]:
    """Very different lengths, and two bars of one section between the same nodes: of two, they are parts of a cable."""
    found: list[str] = []
    if bars.labels.size and bars.length0.max() > LENGTH_RATIO * bars.length0.min():
        short, long = first_least(bars.length0), first_least(-bars.length0)
        found.append(
            f"bar {bars.labels[long]} is {bars.length0[long] / bars.length0[short]:.3g} times as long as bar "
            f"{bars.labels[short]}: mixed units, or two nodes that should be one?"
        )
    section = np.zeros(len(model.mesh.element_labels), np.int64)
    for number, each in enumerate(model.sections):
        section[model.mesh.element_sets[each.element_set]] = number
    seen: dict[tuple[frozenset[int], int], int] = {}
    for label, pair, own in zip(bars.labels, bars.connectivity.tolist(), section[bars.elements].tolist(), strict=True):
        other = seen.setdefault((frozenset(pair), own), label)
        if other != label:
            found.append(f"bars {other} and {label}, of the same section, connect the same two nodes")
    return found[:LISTED]


def free_bodies(model: Model, bars: CheckedBars) -> list[str]:
    """Parts that no support and no grounded spring holds."""
    held = np.asarray(held_dofs(model).any(axis=1))
    if not held.any() and not model.bodies and not model.free_bodies:
        return ["no supports: no *BOUNDARY anywhere"]
    mesh, links = model.mesh, _links(model)
    part = parts(len(mesh.node_labels), links)
    held[mesh.element_nodes[mesh.is_of("SPRING1"), 0]] = True
    for body in model.free_bodies:
        held[mesh.nodes_of(body.node)] = True
    linked = distinct(np.array(links, np.int64).ravel())
    free = linked[~np.isin(part[linked], part[held])]
    bodies = [mesh.node_names[free[part[free] == number]] for number in dict.fromkeys(part[free].tolist())]
    return [f"a free body without supports: nodes {some(labels)}" for labels in bodies][:LISTED]


def nothing_acts(model: Model, bars: CheckedBars) -> list[str]:
    """Steps without loads or motions that could move the model."""
    if not model.steps:
        return ["no *STEP: nothing will be solved"]
    is_strained = model.initial_conditions or model.rest_lengths
    if is_strained or all(step.modes for step in model.steps):
        return []
    for step in model.steps:
        moving = [each for each in (*step.boundaries, *step.rotations) if each.value or each.amplitude]
        turning = [winch for winch in step.winches if winch.value or winch.is_tension]
        if step.nodal_loads or step.distributed_loads or step.fluid_loads or step.temperatures or moving or turning:
            return []
    return ["no loads: no *CLOAD, *DLOAD, *TEMPERATURE, *WINCH, moving support or initial condition"]


def increments(model: Model, bars: CheckedBars) -> list[str]:
    """Increments against the stiffest bar, the snap time and the step."""
    found, stiffest, snapping = [], stiffest_bar(bars), first_to_snap(bars)
    light = np.flatnonzero(bars.can_go_slack & (bars.snap_time == 0) & np.isfinite(bars.rebound))
    for number, step in enumerate(model.steps, start=1):
        procedure, where = step.dynamic, f"step {number}"
        if not step.small_motion and step.timed.dt > step.timed.period:
            dt, period = step.timed.dt, step.timed.period
            found.append(f"{where}: the first increment {dt:g} is longer than the step {period:g}")
        starts = told_of_starts(model) if number == 1 else ""
        texts = notices.coarse_swing(model, procedure), notices.coarse_waves(model, procedure), starts
        found += [f"{where}: {text}" for text in notices.of_gravity(model, step)]
        found += [f"{where}: {text}" for text in texts if text]
        if not procedure:
            continue
        if light.size and procedure.dt > bars.rebound[light].min():
            shortest = int(light[bars.rebound[light].argmin()])
            found.append(
                f"{where}: dt = {procedure.dt:g} is longer than the masses need to rebound on bar "
                f"{bars.labels[shortest]} when it becomes taut ({bars.rebound[shortest]:.3g}): the snap is not resolved"
            )
        periods = 0.0 if stiffest is None else procedure.dt / float(bars.period[stiffest])
        if procedure.integrator == "NEWMARK" and periods > UNRESOLVED_PERIODS:
            found.append(
                f"{where}: dt = {procedure.dt:g} is {periods:.3g} periods of bar {bars.labels[stiffest]}; the "
                "trapezoidal rule may then make bar forces alternate in sign and energy drift in large motion: watch "
                "energy_error, or use TIME INTEGRATOR=ENERGY MOMENTUM"
            )
        is_followed = notices.follows_snaps(procedure, step.controls)
        times = 0.0 if snapping is None else procedure.dt / float(bars.snap_time[snapping])
        if snapping is not None and not is_followed and times > 1.0:
            found.append(
                f"{where}: dt = {procedure.dt:g} is longer than {snap_text(bars, snapping)} of a line that can go "
                f"slack: peaks of tension when it snaps taut {notices.expected_peaks(procedure, 0.5 * times)}; "
                f"{notices.FOLLOW}"
            )
    return found


def jumps(model: Model, bars: CheckedBars) -> list[str]:
    """Prescribed displacements that jump where a dynamic step begins."""
    mesh, found, begin = model.mesh, [], 0.0
    place = np.zeros((len(mesh.node_labels), 3))
    for number, step in enumerate(model.steps, start=1):
        period = step.procedure.period
        for given in () if step.small_motion else step.boundaries:
            if given.kind != "DISPLACEMENT":
                continue
            first = last = given.value
            if given.amplitude is not None:
                amplitude = model.amplitudes[given.amplitude]
                curve = Follow(amplitude, begin if amplitude.time == "STEP TIME" else 0.0)
                first, last = given.value * evaluate(curve, np.array([begin, begin + period]))
            nodes, axis = mesh.nodes_of(given.target), given.dof - 1
            off = nodes[np.abs(first - place[nodes, axis]) > NO_JUMP * (abs(first) + np.abs(place[nodes, axis]))]
            if off.size and step.dynamic:
                moved = np.where(np.isin(np.arange(len(place)), off), first - place[:, axis], 0.0)[bars.connectivity]
                cosine = np.diff(mesh.coordinates[bars.connectivity, axis]) / distances(mesh)[bars.elements, None]
                force = float(np.nanmax(bars.stiffness * np.abs(np.diff(moved) * cosine)[:, 0], initial=0.0))
                makes = f", which changes T by {in_newtons(force, model)} at once (EA dL/L0)" if force > 0.0 else ""
                found.append(
                    f"step {number}: the prescribed displacement of nodes {some(mesh.node_names[off])} in direction "
                    f"{given.dof} jumps to {first:g} at the start of the step{makes}: give it an AMPLITUDE, unless "
                    "that is intended"
                )
            place[nodes, axis] = last
        begin += period
    return found


def sudden_starts(model: Model, bars: CheckedBars) -> list[str]:
    """Loads, water, wind and velocities of supports that begin with a jump, as the run reports them; after statics,
    for the positions of supports at that time and of free nodes in the deck."""
    try:
        system = assemble(model)
    except ModelError as error:
        return [f"a run refuses this model: {error}"]
    found, begin, (u, v) = list[str](), 0.0, system.initial_motion
    before, is_at_rest, nothing = first_environment(system, u), not v.any(), np.zeros(system.size)
    for number, step in enumerate(model.steps if model.earlier is None else (), start=1):
        end = begin + step.procedure.period
        span = Span(begin, end, step.ramps and end > begin)
        now = next_environment(system, before, step.still, span, u, nothing, nothing)
        if step.dynamic and is_at_rest:
            started = sudden(system, before, now, begin, u, 0.0, number == 1)
            found += [f"step {number}: {jump.text}" for jump in started]
            dofs, moved = (
                np.concatenate([*(body.dofs for body in system.bodies), np.zeros(0, np.int64)]),
                nothing.copy(),
            )
            moved[dofs] = now.supports.motion(dofs, np.array([begin]), after=True)[0][0] - u[dofs]
            if (pulled := pull(system, moved, u))[1] > 0.0:
                force = in_newtons(pulled[1], model)
                found.append(f"step {number}: a rigid body jumps at its start: T of element {pulled[0]} by {force}")
        if not step.small_motion:
            (dofs,) = now.supports.supported.nonzero()
            u = u.copy()
            u[dofs] = now.supports.motion(dofs, np.array([end]))[0][0]
            before, is_at_rest = now, bool(step.static)
        begin = end
    return found


def winch_jumps(model: Model, bars: CheckedBars) -> list[str]:
    """Winches whose length jumps at the start of a step."""
    told = ((number, notices.told_of_jump(model, model.steps[number - 1], *at)) for number, *at in notices.jumps(model))
    return [f"step {number}: {text}" for number, text in told if text]


def geometry(model: Model, bars: CheckedBars) -> list[str]:
    linear = [number for number, step in enumerate(model.steps, start=1) if not step.nlgeom]
    if not linear or not (bars.labels.size or model.mesh.has_pulleys):
        return []
    return [f"geometrically linear (no NLGEOM): step {some(linear)}; cables usually need NLGEOM"]


def floating_across(model: Model, bars: CheckedBars) -> list[str]:
    """Straight, unstressed lines without transverse support: a first static step finds no stiffness there."""
    slack_ok = not model.steps or not model.steps[0].static or model.steps[0].fluid_loads
    stressed = model.rest_lengths or any(condition.kind == "STRESS" for condition in model.initial_conditions)
    if slack_ok or stressed or any(section.starting_tension > 0 for section in model.sections):
        return []
    mesh, step = model.mesh, model.steps[0]
    n, (legs, owner) = len(mesh.node_labels), mesh.legs
    stiffness, touched = np.zeros((n, 3, 3)), np.zeros(n, bool)
    ends = legs[np.isin(owner, [*bars.elements, *collect_ropes(model).elements])]
    d = mesh.coordinates[ends[:, 1]] - mesh.coordinates[ends[:, 0]]
    direction = d / np.maximum(np.linalg.norm(d, axis=1), np.finfo(float).tiny)[:, None]
    for end in (0, 1):
        np.add.at(stiffness, ends[:, end], direction[:, :, None] * direction[:, None, :])
        touched[ends[:, end]] = True
    for block in mesh.blocks:
        flat = block.kind == "T2D2"
        spring = block.kind.startswith("SPRING")
        stiffness[np.unique(block.connectivity)] += np.diag([spring, spring, spring or flat]).astype(float)
    for boundary in (*model.boundaries, *step.boundaries):
        stiffness[mesh.nodes_of(boundary.target), boundary.dof - 1, boundary.dof - 1] += 1.0
    stiffness[model.pinned] += np.eye(3)
    bent = model.bent_at[0] if model.bends else np.zeros((0, 3), np.int64)
    stiffness[np.unique(bent[bent >= 0])] += np.eye(3)
    values, vectors = np.linalg.eigh(stiffness)
    loads = np.zeros((n, 3))
    for load in step.nodal_loads:
        loads[mesh.nodes_of(load.target), load.dof - 1] += abs(load.value)
    for spread in step.distributed_loads:
        direction = np.array(spread.direction) if spread.kind == "GRAV" else np.eye(3)["XYZ".index(spread.kind[1])]
        elements = np.arange(len(mesh.element_labels)) if spread.target is None else mesh.elements_of(spread.target)
        loads[np.unique(legs[np.isin(owner, elements)])] += spread.value * direction
    pull = np.abs(np.einsum("ni,nik->nk", loads, vectors))
    unheld = touched & ((values < 1e-9) & (pull > 1e-12 * np.abs(pull).max(initial=0.0))).any(axis=1)
    if not unheld.any():
        return []
    return [
        f"nodes {some(mesh.node_names[unheld])}: loaded perpendicular to their bars, where nothing resists, in "
        "the first static step; give an initial stress or *SOLID SECTION, STARTING TENSION="
    ]


def massless_nodes(model: Model, bars: CheckedBars) -> list[str]:
    """Free nodes without mass: the initial accelerations of a dynamic step cannot be computed."""
    moves = (step.dynamic for step in model.steps if step.dynamic)
    if not any(procedure.initial_acceleration and procedure.singular_mass == "ERROR" for procedure in moves):
        return []
    mesh = model.mesh
    massless, (legs, owner), ropes = np.zeros(len(mesh.node_labels), bool), mesh.legs, collect_ropes(model)
    massless[legs] = True
    massless[bars.connectivity[bars.mass > 0.0].ravel()] = False
    massless[legs[np.isin(owner, ropes.elements[ropes.mass > 0.0])]] = False
    for point in model.masses:
        if point.mass > 0.0:
            massless[mesh.element_nodes[mesh.element_sets[point.element_set]]] = False
    massless &= ~held_nodes(model)
    if model.equations or not massless.any():
        return []
    return [
        f"nodes {some(mesh.node_names[massless])}: no mass, so a *DYNAMIC step cannot find its initial accelerations; "
        "give *DENSITY or *MASS, or use SINGULAR MASS=WARNING"
    ]


def units(model: Model, bars: CheckedBars) -> list[str]:
    """Values that are unusual in consistent units, and bars too soft for their weight."""
    found = []
    unit_area = {section.material for section in model.sections if section.area == 1.0}
    for material in model.materials.values():
        young, is_axial = material.young or 0.0, material.name in unit_area  # E A is given as E
        if 0 < young < LOW_MODULUS and not is_axial:
            found.append(f"material {material.name}: E = {young:g} is low for Pa: given in GPa or MPa by mistake?")
        if material.density > HIGH_DENSITY:
            found.append(f"material {material.name}: density {material.density:g} is above that of any solid in kg/m^3")
    unused = set(model.materials) - {section.material for section in model.sections}
    found += [f"material {name} is used by no section" for name in sorted(unused)]
    gravity = [load.value for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    if gravity and bars.labels.size:
        weight = max(abs(g) for g in gravity) * float(bars.mass.sum())
        strain = weight / (bars.young * bars.area)
        weak = np.flatnonzero((strain > SOFT_STRAIN) & ~np.isin(bars.elements, model.members))
        if weak.size:
            found.append(
                f"bars {some(bars.labels[weak])}: the weight of all bars would stretch one of them by "
                f"{100 * np.nanmax(strain):.3g} %: are E, area, density and gravity in consistent units?"
            )
    return found


CALM = 0.4
"""RHO above which chains that snap or hit the bottom ring: with 0.8, largest forces of one line were 48 % too high."""


def ringing(model: Model, bars: CheckedBars) -> list[str]:
    """Lines that can go slack in water or hit the bottom, with integrators that do not damp the ringing."""
    snapping = first_to_snap(bars)
    damped = any(material.beta for material in model.materials.values())
    if snapping is None or damped or not (model.water or model.seabeds):
        return []
    found = []
    for number, step in enumerate(model.steps, start=1):
        own = step.procedure
        if isinstance(own, Dynamic) and {"NEWMARK": True, "GENERALIZED ALPHA": own.rho > CALM}.get(own.integrator):
            found.append(
                f"step {number}: lines that snap taut or touch down vibrate axially, and nothing damps that: TIME "
                f"INTEGRATOR=GENERALIZED ALPHA, RHO=0.4 (or BETA of *DAMPING) and dt <= {snap_text(bars, snapping)} "
                "keep peaks of tension accurate"
            )
    return found


PART_OF_LINE = 0.05
"""Fraction of a line between two supports above which a straight leg is reported."""
STRAIGHT = (
    "element {0} over node {1}: its branch to node {2} is a straight line of length {3:.4g} (the whole line: {4:.4g}), "
    "with half of its weight at each end: it does not sag, and the pulley transmits the tension at its middle, up to "
    "{5:.4g} less than that at the pulley; move node {2} closer to the pulley and add bars beyond it"
)


def straight_branches(model: Model, bars: CheckedBars) -> list[str]:
    """Heavy legs over pulleys that are a large part of a line: half of their weight does not act on the rope."""
    if not model.mesh.has_pulleys:
        return []
    ropes = collect_ropes(model)
    loads = [load for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    gravity = max((abs(load.value) for load in loads), default=0.0)
    mesh, found = model.mesh, []
    for rope in np.flatnonzero(ropes.mass * gravity > 0.0).tolist():
        element, weight = ropes.elements[rope], gravity * ropes.mass[rope] / ropes.length0[rope]
        for end, branch in zip(mesh.element_nodes[element].tolist(), ropes.branches[rope].tolist(), strict=True):
            line = branch + _line_beyond(model, end)
            if branch > PART_OF_LINE * line:
                names = mesh.element_names[element], mesh.node_names[ropes.pulleys[rope]], mesh.node_names[end]
                found.append(STRAIGHT.format(*names, branch, line, 0.5 * weight * branch))
    return found


def _line_beyond(model: Model, node: int) -> float:
    """Length of the bars that follow a node in a row, up to their end, a junction, or a support."""
    mesh, length, before, held = model.mesh, 0.0, -1, notices.held_nodes(model)
    legs, owners = mesh.legs
    is_bar, pairs = mesh.is_of(*BARS)[owners], legs[legs[:, 0] != legs[:, 1]]
    beside: dict[int, list[int]] = {}
    for first, second in pairs.tolist():
        beside.setdefault(first, []).append(second)
        beside.setdefault(second, []).append(first)
    bars = {frozenset(pair) for pair in legs[is_bar].tolist()}
    for _ in range(len(pairs)):
        following = [other for other in beside[node] if other != before and frozenset((node, other)) in bars]
        if len(following) != 1 or len(beside[node]) != 2 or held[node]:
            break
        length += float(np.linalg.norm(mesh.coordinates[following[0]] - mesh.coordinates[node]))
        before, node = node, following[0]
    return length


def folded_at_the_surface(model: Model, bars: CheckedBars) -> list[str]:
    """Cables that float through the surface, for which there is no equilibrium."""
    return [text] if (text := notices.floating_text(model)) else []


STEEP = 60.0
"""Degrees between two rows of a vessel's table at which linear interpolation loses 13 % of the amplitude."""


def vessels(model: Model, bars: CheckedBars) -> list[str]:
    """Tables of vessels with rows far apart, and waves that act on vessels with full height at once."""
    found = []
    for name in dict.fromkeys(body.rao for body in model.bodies if body.rao):
        if model.water is not None and len(model.sea):
            texts = model.raos[name].misread(model.water.gravity, model.water.level - model.water.seabed)
            found += [f"RAO {name}: {text}" for text in texts]
        turn, motion, heading, first, last = model.raos[name].steepest()
        if turn > STEEP:
            periods = f"periods {2.0 * np.pi / last:.4g} and {2.0 * np.pi / first:.4g}"
            rest = np.cos(np.radians(turn / 2))
            found.append(
                f"RAO {name}: the phase of {motion} turns by {turn:.3g} degrees between {periods} at heading "
                f"{heading:g}: interpolation leaves {rest:.2g} of the amplitude; give more rows"
            )
        if any(wave.ramp == 0.0 for wave in model.waves):
            found.append(f"RAO {name}: waves without RAMP= are at full height when the vessel begins to move: it jumps")
    return found


CHECKS: tuple[Callable[[Model, CheckedBars], list[str]], ...] = (
    *(
        buckled_struts,
        loose_nodes,
        bars_of_odd_length,
        free_bodies,
        nothing_acts,
        floating_across,
        massless_nodes,
        straight_branches,
    ),
    *(
        increments,
        ringing,
        folded_at_the_surface,
        breaking_waves,
        jumps,
        sudden_starts,
        winch_jumps,
        vessels,
        geometry,
        units,
    ),
)


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Lines of text; as ``str`` the whole report.

    description  counts, extent, mass, lengths, the stiffest bar, the steps
    extensions   cards and parameters that neither Abaqus nor CalculiX has
    notices      entries that the reader ignored
    findings     suspicious values
    """

    description: tuple[str, ...]
    extensions: tuple[str, ...]
    notices: tuple[str, ...]
    findings: tuple[str, ...]

    def __repr__(self) -> str:
        parts = (
            ("extensions used (neither Abaqus nor CalculiX reads them)", self.extensions, "none"),
            ("notices", self.notices, "none"),
            ("what looks wrong", self.findings, "nothing found"),
        )
        lines = [*self.description]
        for heading, texts, otherwise in parts:
            lines += ["", heading, *(f"  {text}" for text in texts or (otherwise,))]
        return "\n".join(lines)


def check(deck: str | Path | Model, *, parameters: Mapping[str, float] | None = None) -> Report:
    """Describe the model of a deck and list what looks wrong.

    deck        path of the ``.inp``, or a ``Model``
    parameters  values that override the deck's ``*PARAMETER``

    Raises
    ------
    CommandError  there is no such file.
    DeckError     the deck has errors.

    >>> found = check("inputs/sdnl100.inp")
    >>> print(found.findings[0][:51])
    step 1: dt = 0.04186 is 133 periods of bar 1; the t
    """
    model = read_model(deck, parameters)
    is_endless = np.isinf(distances(model.mesh))
    if is_endless.any():
        label = model.mesh.element_names[int(is_endless.argmax())]
        raise ModelError(f"{model.source or 'model'}: element {label} has no finite length")
    bars = collect_bars(model)
    title = f": {model.heading[0].strip()}" if model.heading else ""
    lines = [f"{model.source or 'model'}{title}", *describe(model, bars), *describe_rigidity(model)]
    lines += [*describe_struts(model, bars), "", "steps"]
    lines += [f"  {describe_step(number, step, bars)}" for number, step in enumerate(model.steps, start=1)]
    found = [text for look in CHECKS for text in look(model, bars)]
    told = tuple(text for text in model.notices if text not in found)
    return Report(tuple(lines), model.extensions, told, tuple(found))
