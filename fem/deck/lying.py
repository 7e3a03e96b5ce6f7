"""The bottom below a line that is laid in equilibrium, in the vertical plane of its ends."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.draft import Catenary, Draft
from fem.deck.source import Mistake
from fem.deck.surfaces import elevated
from fem.deck.weighing import Bars
from fem.lines.hanging import Line, LineError, Shape
from fem.lines.resting import Bottom, lay
from fem.model import InitialCondition, Static

PARALLEL = 1e-9


class Ground(NamedTuple):
    """A plane below a line of n bars.

    bottom   rigid, with the friction that holds the line;  slip  way of that friction
    modulus  (n,) K D of what lies below the bars from node to node: force over depth and length, 0 for nothing
    """

    bottom: Bottom
    slip: float
    modulus: Floats

    def rest(self, line: Line, span: float, rise: float) -> Shape:
        """The line on it. LineError: there is no equilibrium, or bars lie where no bottom holds them."""
        stiffness = np.convolve(0.5 * self.modulus * line.length, [1.0, 1.0])
        holds = stiffness > 0.0
        bottom = self.bottom._replace(stiffness=np.where(holds, stiffness, np.inf))
        shape = lay(line, span, rise, bottom)
        if (shape.load[1:-1][~holds[1:-1]] > 0.0).any():
            raise LineError("it touches the seabed with bars that have no *SEABED below them")
        return shape

    def lying(self, line: Line, shape: Shape) -> float:
        """Natural length on it: of each node as much as the part of its weight that it carries."""
        part = np.divide(shape.load, line.weight, out=np.zeros_like(shape.load), where=line.weight != 0.0)
        return float(np.clip(part, 0.0, 1.0) @ np.convolve(0.5 * line.length, [1.0, 1.0]))

    def holds(self, line: Line, shape: Shape) -> Floats:
        """(n+1,) way from each node, along the line, to the anchor whose friction balances it."""
        along = np.array([math.cos(self.bottom.slope), math.sin(self.bottom.slope)])
        pulls = (shape.tension / np.hypot(*shape.vectors.T))[:, None] * shape.vectors
        normal = along[0] * shape.load * self.bottom.friction
        ways = np.zeros(len(shape.load))
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = (np.diff(pulls, axis=0) @ along - along[1] * line.weight[1:-1]) / normal[1:-1]
        ways[1:-1] = np.where(normal[1:-1] > 0.0, -self.slip * np.clip(needed, -1.0, 1.0), 0.0)
        return ways


def ground_below(draft: Draft, catenary: Catenary, bars: Bars, start: Floats, axes: Floats) -> Ground | None:
    """What lies below a line; None where it hangs clear by itself, or by SEABED=NO.

    start (3,) the first node;  axes (2, 3) across, from the first end to the last, and against gravity
    """
    card, up = catenary.card, bars.up
    # which *SEABED each bar is above, -1 for none
    below = np.full(len(bars.labels), -1)
    for at, (each, _) in enumerate(draft.seabeds):
        name = each.element_set
        below[np.isin(bars.labels, draft.element_sets.ordered(name)) if name else slice(None)] = at
    found = sorted({at for at in below.tolist() if at >= 0})
    if catenary.on_bottom == "NO" or not found:
        asked = "FRICTION" if catenary.is_held else "SEABED"
        if (catenary.is_held or catenary.on_bottom == "YES") and not draft.has_failed("SEABED"):
            raise Mistake(card.field(asked).place, f"{asked}=YES, but the bars of the line have no *SEABED below them")
        return None
    beds = [elevated(draft, *draft.seabeds[at]) for at in found]
    one = beds[0]
    planes = [(each.elevation, *each.normal(up)) for each in beds]
    if not np.allclose(planes, planes[:1], rtol=1e-12, atol=1e-12):
        raise card.mistake("the line lies on several planes", "SEABED=NO ignores the seabed")
    if abs(axes[1][up] - 1.0) > PARALLEL:
        raise card.mistake(f"a line that may touch the seabed needs gravity against {'xyz'[up]}")
    normal, slip = one.normal(up), 0.0
    depth = -float(one.depth(start[None], up)[0]) / float(normal @ axes[1])
    bottom = Bottom(depth, math.atan2(-float(normal @ axes[0]), float(normal @ axes[1])))
    if catenary.is_held:
        card, one = catenary.card, beds[0]
        if any((each.axial, each.slip) != (one.axial, one.slip) for each in beds):
            raise card.mistake("FRICTION=YES, but the line lies on seabeds with different friction")
        if one.axial == 0.0:
            raise card.mistake("FRICTION=YES, but its *SEABED has no friction along the line")
        is_static = bool(draft.steps) and isinstance(draft.steps[0].procedure, Static)
        if is_static and not one.rubs_in_statics:
            what = "friction of *SEABED acts in static steps with FRICTION=ALL only"
            draft.notice(f"{what}: step 1 releases the line laid with FRICTION=YES")
        bottom, slip = bottom._replace(friction=one.axial), one.slip
    if abs(normal @ np.cross(*axes)) > PARALLEL:
        what = f"{card.place}: the seabed slopes perpendicular to the line; this is ignored when the line is laid"
        draft.notice(f"{what}: a step must bring it to rest")
    moduli = np.array([each.stiffness * each.width for each in beds])
    modulus = np.where(below >= 0, moduli[np.searchsorted(found, np.maximum(below, found[0]))], 0.0)
    return Ground(bottom, slip, bars.together(modulus))


def anchors(labels: Ints, ways: Floats, along: Floats) -> list[InitialCondition]:
    """Where friction holds nodes; ways (n+1,) in the direction ``along`` (3,)."""
    return [
        InitialCondition("ANCHOR", label, way * part, dof)
        for label, way in zip(labels.tolist(), ways.tolist(), strict=True)
        for dof, part in enumerate(along.tolist(), 1)
        if way and abs(part) > PARALLEL
    ]
