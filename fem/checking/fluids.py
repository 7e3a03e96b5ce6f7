"""Bars in water and wind: what they weigh there, how fast they sink, how hard the stream pushes."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.checking.bars import Bars
from fem.model import Dynamic, FluidLoad, Jonswap, Model
from fem.model.surroundings import current_at, growth_of, wave_numbers

NOTHING = 1e-9
"""Weight in a fluid below this fraction of that outside is nothing but round-off."""
STEEPEST = 0.142
"""Height over length at which waves break in deep water (Miche, Ann. Ponts Chauss. 114 (1944))."""
CALM = 0.4
"""RHO above which chains that land and snap ring: with 0.8, largest forces of one line came out 48 % too high."""


def describe_fluids(model: Model, bars: Bars) -> list[str]:
    """A line for every set that water or wind acts on."""
    lines = []
    loads = [load for step in model.steps for load in step.fluid_loads]
    found = {(load.target, load.kind): load for load in loads if load.kind in ("FDD", "WDD")}
    lifted = {(load.target, "FDD"): load for load in loads if load.kind == "PB"}
    for (target, kind), load in (lifted | found).items():
        chosen = np.flatnonzero(np.isin(bars.elements, model.mesh.elements_of(target)))
        if len(chosen):
            name = "in water" if kind == "FDD" else "in wind"
            lines.append(f"{name:<12}{target}: {_numbers(model, bars, chosen, load, loads)}")
    return lines


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
        for omega, k, amplitude, _, direction in wave.components(water):
            head = f"AIRY, amplitude {amplitude:.6g}, period {2.0 * np.pi / omega:.6g}, towards "
            head += f"{np.degrees(direction):.4g} degrees from +x"
            lines.append(f"waves       {head}; {_regime(2.0 * amplitude, k, depth)}")
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
    thickness = growth_of(model.mesh, model.growths)[0][bars.elements[chosen]]
    weight = bars.density[chosen] * bars.area[chosen] * gravity
    water, is_wind = model.water, drag.kind == "WDD"
    for load in loads:
        if load.kind == "PB" and water is not None:
            wet = np.isin(bars.elements[chosen], model.mesh.elements_of(load.target))
            area = 0.25 * np.pi * (load.diameter + 2.0 * thickness) ** 2
            weight = weight - np.where(wet, load.magnitude * water.density * water.gravity * area, 0.0)
    weight = np.where(np.abs(weight) < NOTHING * bars.density[chosen] * bars.area[chosen] * gravity, 0.0, weight)
    text = f"weight per length {_range(weight)}, {weight @ bars.length0[chosen]:.6g} in all"
    if drag.kind == "PB":
        return text
    height = model.mesh.coordinates[bars.connectivity[chosen], model.mesh.up]
    speed, waves = _fastest(model, drag, height), _orbital(model, drag, height)
    text += f"; stream up to {speed:.4g}" + (f", waves up to {waves:.4g}" if waves else "")
    speed += waves
    if isinstance(drag.coefficient, str):
        law = model.drag_laws[drag.coefficient].rows
        slope = (law[-1][1] - law[-2][1]) / (law[-1][0] - law[-2][0])
        force = np.interp(speed, *np.array(law).T) + slope * max(speed - law[-1][0], 0.0)
    else:
        fluid = model.wind if is_wind else model.water
        assert fluid is not None
        width = drag.diameter + (0.0 if is_wind else 2.0 * thickness)
        constant = drag.magnitude * 0.5 * fluid.density * width * drag.coefficient
        force = constant * speed**2
        if np.all(constant > 0.0):
            terminal = np.sign(weight) * np.sqrt(np.abs(weight) / constant)
            text += f"; {'falls' if is_wind else 'sinks'} across itself at {_range(terminal)}"
    if np.all(weight != 0.0):
        text += f"; drag over weight up to {np.max(force / np.abs(weight)):.4g}"
    return text


def _fastest(model: Model, drag: FluidLoad, height: Floats) -> float:
    """Largest speed of the stream at some heights, with its amplitudes as far as their points or terms tell."""
    largest = _factors(model, drag)
    if drag.kind == "WDD" and model.wind is not None:
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
    times its standard deviation, which one wave in 3000 exceeds (Rayleigh: exp(-8)).
    """
    if drag.kind == "WDD" or model.water is None:
        return 0.0
    depth, total = model.water.level - model.water.seabed, 0.0
    z = min(max(float(height.max()) - model.water.level, -depth), 0.0)
    for wave in model.waves:
        omega, k, amplitude = wave.components(model.water)[:, :3].T
        speeds = amplitude * omega * (np.exp(k * z) + np.exp(-k * (z + 2.0 * depth))) / -np.expm1(-2.0 * k * depth)
        total += 4.0 * float(np.sqrt(0.5 * speeds @ speeds)) if isinstance(wave, Jonswap) else float(speeds.sum())
    return _factors(model, drag)[1] * total


def _range(values: Floats) -> str:
    """The least and the largest, or the one they are."""
    low, high = float(values.min()), float(values.max())
    return f"{low:.6g}" if high - low <= 1e-9 * max(abs(low), abs(high)) else f"{low:.6g} .. {high:.6g}"


def ringing(model: Model, bars: Bars) -> list[str]:
    """Lines that can go slack in water or land on the bottom, and integrators that let them ring."""
    slack = np.flatnonzero(bars.can_go_slack & (bars.snap_time > 0))
    damped = any(material.beta for material in model.materials.values())
    if not slack.size or damped or not (model.water or model.seabeds):
        return []
    found = []
    for number, step in enumerate(model.steps, start=1):
        own = step.procedure
        rings = isinstance(own, Dynamic) and {"NEWMARK": True, "GENERALIZED ALPHA": own.rho > CALM}.get(own.integrator)
        if rings:
            found.append(
                f"step {number}: lines that snap taut or land on the bottom ring, and nothing damps that: TIME "
                f"INTEGRATOR=GENERALIZED ALPHA, RHO=0.4 (or BETA of *DAMPING) and dt <= L0/(2c) = "
                f"{bars.snap_time[slack].min():.3g} keep peaks of tension right"
            )
    return found
