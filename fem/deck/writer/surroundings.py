"""Water, wind, drag laws, marine growth."""

from __future__ import annotations

from fem.deck.writer.text import card, number
from fem.model import Model


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
    for law in model.drag_laws.values():
        lines.append(card("DRAG LAW", NAME=law.name))
        lines += [f"{number(speed)}, {number(force)}" for speed, force in law.rows]
    for growth in model.growths:
        lines.append(card("MARINE GROWTH", ELSET=growth.element_set, DIAMETER=growth.diameter))
        lines += [f"{number(t)}, {number(density)}, {number(z)}" for z, t, density in growth.rows]
    return lines
