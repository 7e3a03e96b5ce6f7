"""Water, wind, drag laws, marine growth, and the loads they bring."""

from __future__ import annotations

from fem.deck.writer.text import card, field, number
from fem.model import Airy, FluidLoad, Jonswap, Model, Step


def surroundings_lines(model: Model) -> list[str]:
    """Every card."""
    lines: list[str] = []
    if model.water is not None:
        water = model.water
        rows = [(water.seabed, water.level, water.gravity, water.density), *water.current]
        lines += ["*AQUA", *(", ".join(map(number, row)) for row in rows)]
    if model.wind is not None:
        wind = model.wind
        numbers = (wind.density, wind.reference, *wind.speeds, *wind.direction, wind.power)
        lines += ["*WIND", ", ".join(map(number, numbers))]
    for wave in model.waves:
        lines += wave_lines(wave)
    for law in model.drag_laws.values():
        lines.append(card("DRAG LAW", NAME=law.name))
        lines += [f"{number(speed)}, {number(force)}" for speed, force in law.rows]
    for growth in model.growths:
        lines.append(card("MARINE GROWTH", ELSET=growth.element_set, DIAMETER=growth.diameter))
        lines += [f"{number(t)}, {number(density)}, {number(z)}" for z, t, density in growth.rows]
    return lines


def wave_lines(wave: Airy | Jonswap) -> list[str]:
    """``*WAVE``."""
    own = {"RAMP": wave.ramp or None, "STRETCHING": wave.stretching}
    if isinstance(wave, Airy):
        head = card("WAVE", TYPE="AIRY", **own) + (", WAVE PERIOD" if wave.is_period else "")
        return [head, *(", ".join(map(number, row)) for row in wave.rows)]
    row = wave.height, wave.period, wave.gamma, *wave.direction, wave.low, wave.high
    head = card("WAVE", TYPE="JONSWAP", SEED=wave.seed, COMPONENTS=wave.count, **own)
    return [head, ", ".join(map(number, row))]


def fluid_lines(step: Step) -> list[str]:
    """``*DLOAD`` of water and wind, ``*D ADDED MASS``; OP=NEW has been said."""
    lines: list[str] = []
    op = "NEW" if "DLOAD" in step.replaced else None
    head: object = None
    for load in step.fluid_loads:
        if load.kind == "ADDED MASS":
            lines += ["*D ADDED MASS", f"{field(load.target)}, FI, {number(load.diameter)}, {number(load.added)}"]
            continue
        if head != (load.amplitude, load.is_current):
            head = load.amplitude, load.is_current
            length = {"LENGTH": "CURRENT"} if load.is_current else {}
            lines.append(card("DLOAD", OP=op, AMPLITUDE=load.amplitude, **length))
        numbers = number(load.magnitude), number(load.diameter), *rest(load)
        lines.append(", ".join((field(load.target), load.kind, *numbers)))
    return lines


def rest(load: FluidLoad) -> list[str]:
    """What follows D on a line."""
    if load.kind == "PB":
        return []
    coefficient = field(load.coefficient) if isinstance(load.coefficient, str) else number(load.coefficient)
    streams = [field(name) for name in load.streams]
    if load.kind == "FI":
        along = "" if load.added_along is None else number(load.added_along)
        return [coefficient, number(load.added), streams[1], along]
    exponent = [number(load.exponent)] if load.kind == "FDT" else []
    return [coefficient, number(load.follows), *exponent, *streams]
