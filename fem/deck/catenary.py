"""``*NGEN, LINE=CATENARY``: nodes of a line that hangs in equilibrium, and the rest lengths of its bars.

The card is read with the mesh. Its nodes are placed when sections, materials and the first step are known, which
determine the weight of the bars, in air or water, and the bottom below them, in the vertical plane of the ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.cards import POSITIVE, Card, Row
from fem.deck.draft import Catenary, Draft, LaidLine
from fem.deck.source import Mistake
from fem.deck.surfaces import elevated
from fem.lines.hanging import MEASURES, Line, LineError, Shape, hang, horizontal_tension, natural_length
from fem.lines.resting import Bottom, lay
from fem.model import (
    BarSection,
    DistributedLoad,
    FluidLoad,
    InitialCondition,
    Material,
    PointMass,
    RestLength,
    Uniaxial,
)
from fem.model.bathymetry import DepthGrid
from fem.model.facts import carried_by, grown_at
from fem.model.mesh import BARS

ONE_WAY = 1e-12


class LaidBars(NamedTuple):
    """The m bars of a line, one or several between each node and the next, from its first node to its last.

    labels (m,);  gap (m,) between which two of the n + 1 nodes;  area, density (m,);  strain (m,) measures
    young (m,), infinite where a bar keeps its length;  up  the axis that is up: y where all lie in the plane z = 0
    tables  of bars with ``*UNIAXIAL``, whose young is stress over strain where they are: bar -> table
    """

    labels: Ints
    gap: Ints
    area: Floats
    young: Floats
    density: Floats
    strain: np.ndarray
    up: int
    tables: dict[int, Uniaxial]

    def secant(self, line: Line, shape: Shape) -> LaidBars:
        """The same bars, those with tables with the moduli that belong to their tensions."""
        young = self.young.copy()
        for bar, table in self.tables.items():
            at = int(self.gap[bar])
            stress = shape.tension[at] / self.area[bar]
            if self.strain[bar] != "ENGINEERING":  # S = T L/(A l) of GREEN; T l/(A L) of LOG
                power = -1.0 if self.strain[bar] == "GREEN" else 1.0
                stress *= (np.hypot(*shape.vectors[at]) / line.length[at]) ** power
            young[bar] = modulus_at(table, float(stress))
        return self._replace(young=young)

    def together(self, values: Floats) -> Floats:
        """(n,) sums over the bars (m,) that lie in parallel between two nodes."""
        return np.asarray(np.bincount(self.gap, values), float)


def curve_at_rest(table: Uniaxial) -> tuple[float, list[tuple[float, float]]]:
    """Strain that is left without stress, and (stress, strain) above 0: the unloading curve up to the largest stress so
    far, then the loading curve."""
    loading = [(s, e) for s, e in table.loading if e > 0.0]
    if not table.largest:
        return 0.0, loading
    last = float(np.interp(table.largest, *np.transpose([(0.0, 0.0), *loading])))
    (_, least), (most, longest) = table.unloading[0], table.unloading[-1]
    if table.definition == "SHIFTED CURVE":
        stresses, strains = np.transpose(table.unloading)
        left = last - float(np.interp(table.largest, stresses, strains))
        back = [(s, left + e) for s, e in table.unloading if 0.0 < s < table.largest]
    else:
        left = least / longest * last
        stretch = (last - left) / (longest - least)
        back = [(s / most * table.largest, left + (e - least) * stretch) for s, e in table.unloading[1:-1]]
    return left, [*back, (table.largest, last), *((s, e) for s, e in loading if s > table.largest)]


def modulus_at(table: Uniaxial, stress: float) -> float:
    """Stress over strain on the curve at rest; without stress that of its first point, beyond its last that of this
    point or of the last slope."""
    left, curve = curve_at_rest(table)
    (low, first), (high, last) = curve[0], curve[-1]
    if stress <= 0.0 or (stress <= low and not left):
        return low / first
    if stress >= high:
        before = table.loading[-2]
        beyond = (stress - high) * (last - before[1]) / (high - before[0]) if table.is_extended else 0.0
        return stress / (last + beyond) if table.is_extended else high / last
    stresses, strains = zip((0.0, left), *curve, strict=True)
    return stress / float(np.interp(stress, stresses, strains))


def dead_loads(draft: Draft) -> tuple[list[DistributedLoad], list[FluidLoad]]:
    """Distributed and fluid loads of the first step; of a restart those of the first step of the earlier run."""
    step = draft.first_step
    return (step.distributed_loads, [load for load, _ in step.fluid_loads]) if step else ([], [])


def members(draft: Draft, bars: LaidBars, target: str | int | None) -> Flags:
    if target is None:
        return np.ones(len(bars.labels), np.bool_)
    return np.asarray(np.isin(bars.labels, draft.element_sets.named(target)))


def gravity_on(draft: Draft, bars: LaidBars) -> Floats:
    """(m, 3) acceleration of gravity on each bar."""
    gravity = np.zeros((len(bars.labels), 3))
    for load in dead_loads(draft)[0]:
        if load.kind == "GRAV":
            gravity[members(draft, bars, load.target)] += load.value * np.array(load.direction)
    return gravity


def upwards(draft: Draft, catenary: Catenary, bars: LaidBars) -> Floats:
    """(3,) unit vector against gravity; without gravity the axis that is up in the model."""
    gravity = gravity_on(draft, bars)
    size = np.linalg.norm(gravity, axis=1)
    if not size.any():
        return np.asarray(np.eye(3)[bars.up])
    up: Floats = -gravity[size.argmax()] / size.max()
    if np.abs(gravity + size[:, None] * up).max() > ONE_WAY * size.max():
        raise catenary.card.mistake("GRAV of the first step points in different directions along the line")
    return up


def weights(draft: Draft, catenary: Catenary, bars: LaidBars, places: Floats) -> Floats:
    """(n,) weight per natural length between the nodes, at ``places`` (n+1, 3); in water the submerged weight."""
    given = catenary.weight
    weight = bars.together(weights_in_water(draft, bars, places)) if given is None else np.full(len(places) - 1, given)
    if not weight.any():
        hint = "it comes from GRAV in the first *STEP and *DENSITY, or from WEIGHT= per natural length"
        raise catenary.card.mistake("the line has no weight", hint)
    return np.asarray(weight)


def weights_in_water(draft: Draft, bars: LaidBars, places: Floats) -> Floats:
    """(m,) weight of the bars per natural length, with marine growth and nonstructural masses, less the buoyancy."""
    size = np.linalg.norm(gravity_on(draft, bars), axis=1)
    first, second = places[bars.gap, bars.up], places[bars.gap + 1, bars.up]
    named = partial(members, draft, bars)
    layer, mass = grown_at((growth for growth, _ in draft.growths), named, 0.5 * (first + second))
    there = []
    gone = {name for name, _ in draft.first_step.shed} if draft.first_step else set()
    for each, place in draft.nonstructural:
        if each.is_total and members(draft, bars, each.element_set).any():
            hint = "its distribution depends on the lengths, and these on the weight: give MASS PER LENGTH"
            raise Mistake(place, "TOTAL MASS is not possible for a line laid by LINE=CATENARY", hint)
        if each.name not in gone:
            there.append(each)
    carried = carried_by(there, partial(members, draft, bars), np.ones(len(bars.labels)))
    weight = (bars.density * bars.area + mass + carried) * size
    low, high = np.minimum(first, second), np.maximum(first, second)
    for load in dead_loads(draft)[1]:
        if load.kind == "PB" and draft.water is not None:
            deep = draft.water.level - low
            wet = np.clip(np.divide(deep, high - low, out=np.sign(deep), where=high > low), 0.0, 1.0)
            area = 0.25 * np.pi * (load.diameter + 2.0 * layer) ** 2
            lift = load.magnitude * draft.water.density * draft.water.gravity * area * wet
            weight -= np.where(members(draft, bars, load.target), lift, 0.0)
    return np.asarray(weight)


def joint_weights(draft: Draft, labels: Ints, up: Floats) -> Floats:
    """(n+1,) weights at nodes of a line beside those of bars, downwards: ``*MASS`` by GRAV, ``*CLOAD`` of step 1."""
    weight, at = np.zeros(len(labels)), {label: k for k, label in enumerate(labels.tolist())}
    gravity = [load for load in dead_loads(draft)[0] if load.kind == "GRAV"]
    mass_of: dict[int, float] = {}
    for entry in draft.properties:
        if isinstance(entry.value, PointMass):
            mass_of |= dict.fromkeys(draft.element_sets.ordered(entry.element_set).tolist(), entry.value.mass)
    for chunk in draft.elements.chunks if mass_of and gravity else ():
        for label, numbers in zip(chunk.labels.tolist(), chunk.numbers.tolist(), strict=True):
            if chunk.kind == "MASS" and label in mass_of and numbers[0] in at:
                for load in gravity:
                    if load.target is None or label in draft.element_sets.named(load.target):
                        down = -load.value * float(np.array(load.direction) @ up)
                        weight[at[numbers[0]]] += mass_of[label] * down
    for nodal in draft.first_step.nodal_loads if draft.first_step else ():
        for label in draft.node_sets.named(nodal.target).tolist():
            if label in at and nodal.dof <= 3 and not nodal.is_imaginary:
                weight[at[label]] -= nodal.value * up[nodal.dof - 1]
    return weight


PARALLEL = 1e-9
SAMPLES = 1000
"""Points of a line at which a grid is asked for its slope across it."""


class Ground(NamedTuple):
    """A plane below a line of n bars.

    bottom   rigid, with the friction that holds the line;  slip  displacement at which it slips
    modulus  (n,) K D of what lies below the bars from node to node: force over depth and length, 0 for nothing
    """

    bottom: Bottom
    slip: float
    modulus: Floats

    def rest(self, line: Line, span: float, rise: float) -> Shape:
        """Equilibrium of the line on it. LineError: there is none, or bars lie outside the bottom."""
        stiffness = np.convolve(0.5 * self.modulus * line.length, [1.0, 1.0])
        holds = stiffness > 0.0
        bottom = self.bottom._replace(stiffness=np.where(holds, stiffness, np.inf))
        shape = lay(line, span, rise, bottom)
        if (shape.load[1:-1][~holds[1:-1]] > 0.0).any():
            raise LineError("it touches the seabed with bars that have no *SEABED below them")
        return shape

    def lying(self, line: Line, shape: Shape) -> float:
        """Natural length on it: each node counts with the fraction of its weight that the bottom carries."""
        part = np.divide(shape.load, line.weight, out=np.zeros_like(shape.load), where=line.weight != 0.0)
        return float(np.clip(part, 0.0, 1.0) @ np.convolve(0.5 * line.length, [1.0, 1.0]))

    def holds(self, line: Line, shape: Shape) -> Floats:
        """(n+1,) distance along the line from each node to the anchor whose friction balances it."""
        along = np.array([math.cos(self.bottom.slope), math.sin(self.bottom.slope)])
        pulls = (shape.tension / np.hypot(*shape.vectors.T))[:, None] * shape.vectors
        normal = along[0] * shape.load * self.bottom.friction
        ways = np.zeros(len(shape.load))
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = (np.diff(pulls, axis=0) @ along - along[1] * line.weight[1:-1]) / normal[1:-1]
        ways[1:-1] = np.where(normal[1:-1] > 0.0, -self.slip * np.clip(needed, -1.0, 1.0), 0.0)
        return ways


def profile_of(grid: DepthGrid, start: Floats, axes: Floats, places: Floats) -> tuple[Floats, Floats]:
    """Depths and their gradients at places (k, 2) in the plane of a line, by its first node and its axes."""
    depth, slopes = grid.depth(start + places @ axes)
    return depth, slopes @ axes.T


def ground_below(draft: Draft, catenary: Catenary, bars: LaidBars, ends: Floats, axes: Floats) -> Ground | None:
    """The bottom below a line; None if the line does not touch one, or with SEABED=NO.
    ends (2, 3) the first and the last node;  axes (2, 3) across, from the first end to the last, and against gravity"""
    card, up, start = catenary.card, bars.up, ends[0]
    # index of the *SEABED below each bar, -1 for none
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
    if not np.allclose(planes, planes[:1], rtol=1e-12, atol=1e-12) or any(each.grid != one.grid for each in beds):
        raise card.mistake("the line lies on several planes", "SEABED=NO ignores the seabed")
    if abs(axes[1][up] - 1.0) > PARALLEL:
        raise card.mistake(f"a line that may touch the seabed needs gravity against {'xyz'[up]}")
    normal, slip = one.normal(up), 0.0
    depth = -float(one.depth(start[None], up)[0]) / float(normal @ axes[1])
    bottom = Bottom(depth, math.atan2(-float(normal @ axes[0]), float(normal @ axes[1])))
    if (grid := one.grid) is not None:
        if catenary.is_held:
            hint = "without FRICTION=YES the line is laid, and FRICTION=ALL of *SEABED holds it in later static steps"
            raise Mistake(card.field("FRICTION").place, "FRICTION=YES needs a plane seabed, not a grid", hint)
        bottom = bottom._replace(profile=partial(profile_of, grid, start, axes))
        ways = np.linspace(0.0, 1.0, SAMPLES)[:, None] * (ends[1] - start)
        normal = -grid.depth(start + ways)[1]
    if catenary.is_held:
        if any((each.axial, each.slip) != (one.axial, one.slip) for each in beds):
            raise card.mistake("FRICTION=YES, but the line lies on seabeds with different friction")
        if one.axial == 0.0:
            raise card.mistake("FRICTION=YES, but its *SEABED has no friction along the line")
        if draft.steps and draft.steps[0].static and not one.rubs_in_statics:
            what = "friction of *SEABED acts in static steps with FRICTION=ALL only"
            draft.notice(f"{what}: step 1 releases the line laid with FRICTION=YES")
        bottom, slip = bottom._replace(friction=one.axial), one.slip
    if np.abs(normal @ np.cross(*axes)).max() > PARALLEL:
        what = f"{card.place}: the seabed slopes perpendicular to the line; this is ignored when the line is laid"
        draft.notice(f"{what}: a step must bring it to rest")
    moduli = np.array([each.stiffness * each.width for each in beds])
    modulus = np.where(below >= 0, moduli[np.searchsorted(found, np.maximum(below, found[0]))], 0.0)
    return Ground(bottom, slip, bars.together(modulus))


def anchors(labels: Ints, ways: Floats, along: Floats) -> list[InitialCondition]:
    """Anchors of the friction at nodes, at distances ``ways`` (n+1,) in the direction ``along`` (3,)."""
    return [
        InitialCondition("ANCHOR", label, way * part, dof)
        for label, way in zip(labels.tolist(), ways.tolist(), strict=True)
        for dof, part in enumerate(along.tolist(), 1)
        if way and abs(part) > PARALLEL
    ]


PASSES, MOST_PASSES = 4, 60
"""Iterations for lines in water: the weight of a bar depends on where it is; of lines with stress-strain tables, whose
moduli depend on their tensions (they end where these repeat themselves)."""
SAME_MODULUS = 1e-12
LARGEST_CHANGE = math.log(2.0)


def read_catenary(card: Card, draft: Draft, pieces: Iterable[tuple[Row, Ints]]) -> None:
    """``first, last, increment, natural length``, one line per piece."""
    on_bottom = card.word("SEABED", ("YES", "NO"), ""), card.word("FRICTION", ("YES", "NO"), "NO") == "YES"
    found = []
    for row, labels in pieces:
        length = row.amount(3, "the natural length", positive=True) if row.field(3).text else None
        found.append(LaidLine(labels, length, row))
    for one, other in pairwise(found):
        if one.labels[-1] != other.labels[0]:
            message = f"the piece begins at node {other.labels[0]}, the one before ends at {one.labels[-1]}"
            raise Mistake(other.row.place, message, "the pieces of a line must be joined end to end")
    labels, counts = np.unique(np.concatenate([piece.labels[1:] for piece in found]), return_counts=True)
    if counts.max() > 1 or found[0].labels[0] in labels:
        raise Mistake(found[0].row.place, "the line passes through the same node twice")
    asked = [name for name in MEASURES if card.has(name)]
    blank = [piece for piece in found if piece.length is None]
    if len(asked) > 1 or (asked and not blank):
        what = asked[1] if len(asked) > 1 else asked[0]
        hint = "leave one natural length blank and give one of TENSION, HORIZONTAL TENSION, SAG"
        raise Mistake(card.field(what).place, f"{what}: another entry fixes the length of the line already", hint)
    if len(blank) > 1 or (blank and not asked):
        hint = "one of them may be blank, with TENSION=, HORIZONTAL TENSION= or SAG="
        raise Mistake(blank[-1].row.place, "a natural length is missing", hint)
    value = card.number(asked[0], bound=POSITIVE) if asked else 0.0
    weight = card.number("WEIGHT") if card.has("WEIGHT") else None
    draft.catenaries.append(Catenary(card, tuple(found), asked[0] if asked else None, value, weight, *on_bottom))


def lay_lines(draft: Draft) -> None:
    for catenary in draft.catenaries:
        draft.card = catenary.card
        with draft.guard(), np.errstate(over="ignore", invalid="ignore"):
            lay_line(draft, catenary)


def lay_line(draft: Draft, catenary: Catenary) -> None:
    """Lays one line. If its bars have mistakes of their own, it reports nothing."""
    pieces, place = catenary.pieces, catenary.card.place
    labels = np.concatenate([pieces[0].labels[:1], *(piece.labels[1:] for piece in pieces)])
    ends = end_places(draft, catenary)
    bars = bars_of(draft, catenary, labels) if ends is not None else None
    if ends is None or bars is None:
        draft.failed.add("NGEN")
        return
    up = upwards(draft, catenary, bars)
    rise = float((ends[1] - ends[0]) @ up)
    level = ends[1] - ends[0] - rise * up
    span = float(np.linalg.norm(level))
    if span == 0.0:  # vertical line: any horizontal direction
        axis = int(np.abs(up).argmin())
        level = np.eye(3)[axis] - up[axis] * up
    axes = np.array([level / np.linalg.norm(level), up])
    ground = ground_below(draft, catenary, bars, ends, axes)

    def rest(line: Line) -> Shape:
        return ground.rest(line, span, rise) if ground else hang(line, span, rise)

    joints = joint_weights(draft, labels, up)
    places = np.linspace(0.0, 1.0, len(labels))[:, None] * np.array([span, rise])
    last: Floats | None = None
    moduli, keeps_strain = list[Floats](), any(curve_at_rest(table)[0] for table in bars.tables.values())
    for number in range(MOST_PASSES if bars.tables else PASSES if draft.water else 1):
        try:  # weights in water, with marine growth, depend on the places
            own = weights(draft, catenary, bars, ends[0] + places @ axes)
            if last is not None and not bars.tables and np.array_equal(own, last):
                break
            last = own
            line = line_of(catenary, bars, own, joints, rest, span, rise)
            shape = rest(line)
        except LineError as error:
            raise Mistake(place, f"nodes {labels[0]} to {labels[-1]}: {error}") from None
        places, before = shape.places, bars.young
        bars = bars.secant(line, shape)
        if number >= PASSES and np.allclose(bars.young, before, rtol=SAME_MODULUS, atol=0.0):
            break
        moduli.append(bars.young)
        if keeps_strain and len(moduli) == 3:  # where little of the strain is that of the tension they converge slowly
            bars, moduli = bars._replace(young=extrapolated(*moduli)), []
    for mistake in draft.nodes.add(labels[1:-1], ends[0] + places[1:-1] @ axes, lambda _: place):
        draft.report(mistake)
    give_lengths(draft, catenary, bars, line)
    draft.laid.append(Laid(labels, line, own, joints, ground, ends[0], axes, span, rise))
    lying = 0.0
    if ground:
        lying = ground.lying(line, shape)
        along = np.array([math.cos(ground.bottom.slope), math.sin(ground.bottom.slope)]) @ axes
        draft.initial_conditions += [(held, place) for held in anchors(labels, ground.holds(line, shape), along)]
    tell(draft, catenary, line, shape, lying)


def extrapolated(first: Floats, second: Floats, third: Floats) -> Floats:
    """Where three moduli lead to whose logarithms differ by less and less (Aitken), at most by a factor of 2 from the
    last; the last ones of others."""
    one, other = np.log(second / first), np.log(third / second)
    ratio = np.divide(other, one, out=np.zeros_like(one), where=one != 0.0)
    ratio[~((ratio > 0.0) & (ratio < 1.0))] = 0.0
    return np.asarray(third * np.exp(np.clip(other * ratio / (1.0 - ratio), -LARGEST_CHANGE, LARGEST_CHANGE)))


class Laid(NamedTuple):
    """A line of n bars in equilibrium.
    labels (n+1,) of its nodes;  weight (n,) of the bars per length;  joints (n+1,) further weights at the nodes"""

    labels: Ints
    line: Line
    weight: Floats
    joints: Floats
    ground: Ground | None
    start: Floats
    axes: Floats
    span: float
    rise: float

    def finer(self) -> Floats | None:
        """(2n+1, 3) nodes of the same line with every bar split in two; None if it has no equilibrium."""
        old = self.line
        twice = np.repeat(np.arange(len(old.length)), 2)
        length = 0.5 * old.length[twice]
        load = np.convolve(0.5 * self.weight[twice] * length, [1.0, 1.0])
        load[::2] += self.joints
        line, ground = Line(length, old.stiffness[twice], load, old.is_green[twice], old.is_log[twice]), self.ground
        try:
            if ground:
                shape = ground._replace(modulus=ground.modulus[twice]).rest(line, self.span, self.rise)
            else:
                shape = hang(line, self.span, self.rise)
        except LineError:
            return None
        return np.asarray(self.start + shape.places @ self.axes)


def give_lengths(draft: Draft, catenary: Catenary, bars: LaidBars, line: Line) -> None:
    """Sets the natural length of each bar; of parallel bars one with its own ``*REST LENGTH`` keeps that."""
    rows = [piece.row for piece in catenary.pieces for _ in piece.labels[1:]]
    given = [draft.element_sets.named(own.target) for own, _ in draft.rest_lengths]
    has_own = np.isin(bars.labels, np.concatenate(given)) if given else np.zeros(len(bars.labels), np.bool_)
    keeps = has_own & (bars.together(np.ones(len(bars.labels)))[bars.gap] > 1.0)
    for label, gap in zip(bars.labels[~keeps].tolist(), bars.gap[~keeps].tolist(), strict=True):
        draft.rest_lengths.append((RestLength(label, float(line.length[gap])), rows[gap].place))
    if keeps.any():
        some = int(bars.labels[keeps][0])
        draft.notice(
            f"{catenary.card.place}: {np.count_nonzero(keeps)} bars, the first is {some}, keep their *REST LENGTH: the "
            "line is laid as if they had the natural length of their piece, and a step must bring it to rest"
        )


def line_of(
    catenary: Catenary, bars: LaidBars, weight: Floats, joints: Floats, rest: Callable[[Line], Shape], span: float,
    rise: float,
) -> Line:  # fmt: skip
    """The chain of the bars; a blank length is found from the measure. rest: computes the equilibrium of a line.
    weight (n,) of the bars per length;  joints (n+1,) further weights at the nodes"""
    counts = [len(piece.labels) - 1 for piece in catenary.pieces]
    lengths = [piece.length or 0.0 for piece in catenary.pieces]

    def made(blank: float) -> Line:
        length = np.repeat([(own or blank) / n for own, n in zip(lengths, counts, strict=True)], counts)
        load = np.convolve(0.5 * weight * length, [1.0, 1.0]) + joints
        strain = np.empty(len(length), bars.strain.dtype)
        strain[bars.gap] = bars.strain
        return Line(length, bars.together(bars.area * bars.young), load, strain == "GREEN", strain == "LOG")

    if catenary.measure is None:
        return made(0.0)

    def laid(blank: float) -> tuple[Line, Shape]:
        line = made(blank)
        return line, rest(line)

    return made(natural_length(laid, sum(lengths), span, rise, catenary.measure, catenary.value))


def end_places(draft: Draft, catenary: Catenary) -> Floats | None:
    """(2, 3) coordinates of the two end nodes; None if one is missing and a broken card may have defined it."""
    rows = catenary.pieces[0].row, catenary.pieces[-1].row
    labels = int(catenary.pieces[0].labels[0]), int(catenary.pieces[-1].labels[-1])
    places = [draft.nodes.at(label) if label in draft.nodes.rows else None for label in labels]
    for row, at, label, found in zip(rows, (0, 1), labels, places, strict=True):
        if found is None and not draft.has_failed("NODE"):
            raise Mistake(row.field(at).place, f"there is no node {label}", "define both end nodes with *NODE")
    for piece in catenary.pieces:
        for label in piece.labels.tolist():
            if label not in labels and label in draft.nodes.rows:
                there = draft.nodes.place_of(label)
                message = f"node {label} exists already: a catenary generates all nodes between its ends"
                raise Mistake(piece.row.place, message, f"it was defined at {there}")
    return None if any(found is None for found in places) else np.array(places)


def bars_of(draft: Draft, catenary: Catenary, labels: Ints) -> LaidBars | None:
    """The bars between consecutive nodes, with parallel ones; None if one has no section or material, which is
    reported elsewhere."""
    found, gap, flat = between(draft, labels)
    missing = np.flatnonzero(np.bincount(gap, minlength=len(labels) - 1) == 0)
    if missing.size:
        if draft.has_failed("ELEMENT", "ELGEN", "INCLUDE"):
            return None
        at = int(missing[0])
        rows = [piece.row for piece in catenary.pieces for _ in piece.labels[1:]]
        hint = "a catenary needs *ELEMENT, TYPE=T3D2 (T2D2) between consecutive nodes"
        raise Mistake(rows[at].place, f"no bar connects nodes {labels[at]} and {labels[at + 1]}", hint)
    section_of: dict[int, BarSection] = {}
    for entry in draft.properties:
        if isinstance(entry.value, BarSection):
            section_of |= dict.fromkeys(draft.element_sets.ordered(entry.element_set).tolist(), entry.value)
    sections = [section_of.get(label) for label in found.tolist()]
    made = [draft.materials.get(section.material) if section else None for section in sections]
    numbers = [entry.numbers for entry in made if entry is not None and not entry.broken]
    tables = {at: table for at, given in enumerate(numbers) if isinstance(table := given.get("uniaxial"), Uniaxial)}
    alone = np.bincount(gap)[gap] == 1 if len(gap) == len(numbers) else np.ones(len(numbers), np.bool_)
    for at, table in tables.items():
        if not table.loading:
            return None
        if (table.largest and not table.unloading) or not alone[at]:
            message = "LINE=CATENARY needs bars with a modulus, or with one *LOADING DATA and no bar beside"
            what = "generate the line straight and let a *STATIC step find its shape"
            raise Mistake(catenary.pieces[0].row.place, message, what)
    young = [  # the long-term modulus; infinite for constant length
        np.inf if given.get("is_inextensible")
        else modulus_at(tables[at], 0.0) if at in tables
        else Material("", **given).static_modulus  # type: ignore[arg-type]
        for at, given in enumerate(numbers)
    ]  # fmt: skip
    if len(numbers) < len(found) or None in young:
        return None
    area, strain = zip(*((section.area, section.strain) for section in sections if section), strict=True)
    for at, (measure, same) in enumerate(zip(strain, np.array(strain)[np.searchsorted(gap, gap)], strict=True)):
        if measure != same:
            message = f"bars between nodes {labels[gap[at]]} and {labels[gap[at] + 1]} have different STRAIN"
            raise Mistake(catenary.card.place, message, "parallel bars are laid as one line: give them the same STRAIN")
    density = np.array([given.get("density", 0.0) for given in numbers], float)
    up = 1 if flat else 2
    return LaidBars(found, gap, np.array(area), np.array(young, float), density, np.array(strain), up, tables)


def between(draft: Draft, labels: Ints) -> tuple[Ints, Ints, bool]:
    """The bars between consecutive nodes: labels and gaps (m,), sorted by gap; and whether all are T2D2."""
    place = {label: at for at, label in enumerate(labels.tolist())}
    found, flat = [], True
    for chunk in draft.elements.chunks:
        inside = np.isin(chunk.numbers, labels).all(axis=1) if chunk.kind in BARS else np.zeros(0, np.bool_)
        for row in np.flatnonzero(inside).tolist():
            first, last = sorted(place[label] for label in chunk.numbers[row].tolist())
            if last == first + 1:
                found.append((first, int(chunk.labels[row])))
                flat = flat and chunk.kind == "T2D2"
    gap, bars = np.array(sorted(found), np.int64).reshape(-1, 2).T
    return bars, gap, flat


def tell(draft: Draft, catenary: Catenary, line: Line, shape: Shape, lying: float) -> None:
    """Notices of the shape found, and of what would change it. lying: natural length on the seabed."""
    first, last = catenary.pieces[0].labels[0], catenary.pieces[-1].labels[-1]
    found = " (the shorter of two)" if catenary.measure == "TENSION" else ""
    slack = f"; {lying:.6g} of it lies on the seabed" if lying else ""
    slack += f"; {shape.slack:.6g} of it is slack" if shape.slack else ""
    draft.notice(
        f"line of nodes {first} to {last}: natural length {line.length.sum():.9g}{found}, horizontal tension "
        f"{horizontal_tension(line, shape):.6g}, tension {shape.pull(line, 0):.6g} at node {first} and "
        f"{shape.pull(line, -1):.6g} at node {last}{slack}"
    )
    if catenary.is_held and lying and (line.weight[1:-1] < 0.0).any():
        draft.notice(
            f"FRICTION=YES has no effect on the line of nodes {first} to {last}: with parts that rise its position is "
            "not unique, so it is laid without friction; *SEABED, FRICTION=ALL holds it in later static steps"
        )
    step = draft.steps[0] if draft.steps else None
    if step and step.static and step.amplitude != "STEP" and step is draft.first_step:
        what = "lines are laid under their full weight, which step 1 applies as a ramp"
        draft.notice(f"{what}: use *STEP, AMPLITUDE=STEP")
