"""A conductor of a core and wires around it, and a span of it at rest: sag and tension, new and after years.

Both materials have the strain of the conductor, less their own expansion. Stresses are forces over the area of the
whole conductor. A new material follows its initial curve, a polynomial of the strain in percent; it has no compression.
Its state is the point of its largest stretch, on the initial curve (a load) or on its curve after ten years (creep):
below that point it follows the final modulus, beyond it too, up to the initial curve, which it then follows again.
Source: Aluminum Association, Stress-Strain-Creep Curves for Aluminum Overhead Electrical Conductors (1974);
D. A. Douglass, F. R. Thrash, Sag and Tension of Conductor, in L. L. Grigsby (ed.), Electric Power Engineering Handbook
(2006), ch. 14.

A span is an elastic catenary whose mean tension stretches it: with c = H/w, the span S and the rise R of its ends in
the plane of the load, u = m -+ S/(2c), sinh m = R/(2c sinh(S/2c)),

    length = sqrt(R^2 + (2c sinh(S/2c))^2) = length0 (1 + strain),   sag at half span = c cosh m (cosh(S/2c) - 1)
    mean tension = H (S + c sinh(S/c) cosh 2m)/(2 length) = area (stress of core + stress of wires)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from fem.lines.hanging import LineError, root

CLOSE = 1e-9
"""Largest relative difference of both sides of the equilibrium of a state."""


class StressCurves(NamedTuple):
    """One material; stresses over the area of the whole conductor.

    initial, creep  coefficients A0, A1, ... of the stress over the strain in percent: when new, after ten years
    modulus         of unloading and loading again, over the strain (not percent)
    expansion       per degree
    end             strain in percent at which the published curves end
    """

    initial: tuple[float, ...]
    creep: tuple[float, ...]
    modulus: float
    expansion: float
    end: float


class Stretch(NamedTuple):
    """The largest stretch of a material: strain, stress."""

    strain: float
    stress: float


class Conductor(NamedTuple):
    """materials: core and wires, or one;  reference: the temperature of their curves."""

    area: float
    materials: tuple[StressCurves, ...]
    reference: float


Memory = tuple[Stretch | None, ...]
"""Largest stretch of each material; None: it is new."""


def polynomial(curves: StressCurves, coefficients: Sequence[float], strain: float) -> float:
    """Stress of a curve at a strain, not below zero; beyond its end it continues with the modulus, so that root
    finding works; such results are refused afterwards."""
    if strain <= 0.0:
        return 0.0
    x, value = min(100.0 * strain, curves.end), 0.0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return max(0.0, value + curves.modulus * max(0.0, strain - 0.01 * curves.end))


def stress(curves: StressCurves, strain: float, memory: Stretch | None) -> float:
    """Stress of one material at its own strain (without expansion)."""
    new = polynomial(curves, curves.initial, strain)
    if memory is None:
        return new
    line = max(0.0, memory.stress + curves.modulus * (strain - memory.strain))
    if strain <= memory.strain:
        return line
    is_by_load = memory.stress >= polynomial(curves, curves.initial, memory.strain)
    return new if is_by_load else min(line, new)


def tension(conductor: Conductor, strain: float, warmth: float, memory: Memory) -> float:
    """Tension of the conductor; strain: relative to zero stress at the reference temperature, warmth: above that
    temperature."""
    parts = zip(conductor.materials, memory, strict=True)
    return conductor.area * sum(stress(each, strain - each.expansion * warmth, point) for each, point in parts)


def stretched(conductor: Conductor, strain: float, warmth: float, by_creep: bool) -> Memory:
    """State of the materials after a strain: as a load, or for ten years (by_creep)."""
    points = []
    for each in conductor.materials:
        own = strain - each.expansion * warmth
        curve = each.creep if by_creep else each.initial
        points.append(Stretch(own, polynomial(each, curve, own)) if own > 0.0 else None)
    return tuple(points)


def new(conductor: Conductor) -> Memory:
    return (None,) * len(conductor.materials)


class Load(NamedTuple):
    """Loads on a span: weight and wind per length, constant added to the resultant (K of NESC); warmth: temperature
    above the reference of the conductor."""

    weight: float
    wind: float
    extra: float
    warmth: float

    @property
    def resultant(self) -> float:
        return math.hypot(self.weight, self.wind) + self.extra

    @property
    def swing(self) -> float:
        """Angle of the plane of the conductor from the vertical."""
        return math.atan2(self.wind, self.weight)


class CatenaryShape(NamedTuple):
    """A catenary in the plane of its load.

    length, mean, sag   along it; tension in the mean over it; from the chord at half span
    first, last         tension at its ends
    lowest              height of the first end above its lowest point
    """

    length: float
    mean: float
    sag: float
    first: float
    last: float
    lowest: float


def shape_of(h: float, span: float, rise: float, load: Load) -> CatenaryShape:
    """Between ends that are ``span`` apart and differ in height by ``rise``, under a horizontal tension."""
    up = rise * math.cos(load.swing)
    across = math.sqrt(span * span + rise * rise - up * up)
    c = h / load.resultant
    half = across / (2.0 * c)
    bow = 2.0 * c * math.sinh(half)
    m = math.asinh(up / bow)
    length = math.hypot(up, bow)
    mean = h * (across + c * math.sinh(2.0 * half) * math.cosh(2.0 * m)) / (2.0 * length)
    sag = c * math.cosh(m) * 2.0 * math.sinh(0.5 * half) ** 2
    first, last = (h * math.cosh(m + side * half) for side in (-1.0, 1.0))
    lowest = c * (math.cosh(m - half) - 1.0) if abs(m) < half else max(0.0, -up)
    return CatenaryShape(length, mean, sag, first, last, lowest)


class SpanState(NamedTuple):
    """A span at rest under a load: horizontal tension, strain of the conductor, residual: relative difference of both
    sides of the equilibrium."""

    load: Load
    h: float
    strain: float
    shape: CatenaryShape
    residual: float


STEEPEST = 100.0
"""Largest span over 2c that is tried."""


def state_of(conductor: Conductor, length0: float, span: float, rise: float, load: Load, memory: Memory) -> SpanState:
    """The state of a span with an unstressed length ``length0`` at the reference temperature.
    LineError: there is none, its strain is beyond the published curves, or both sides of its equilibrium differ."""

    def excess(log_h: float) -> float:
        shape = shape_of(math.exp(log_h), span, rise, load)
        pull = tension(conductor, shape.length / length0 - 1.0, load.warmth, memory)
        return math.log1p(pull) - math.log1p(shape.mean)

    weight = load.resultant * math.hypot(span, rise)
    low, high = math.log(weight / (2.0 * STEEPEST)), math.log(100.0 * weight + 10.0 * conductor.area * 1e8)
    h = math.exp(root(excess, low, high))
    shape = shape_of(h, span, rise, load)
    strain = shape.length / length0 - 1.0
    refuse_beyond(conductor, strain, load.warmth)
    residual = tension(conductor, strain, load.warmth, memory) / shape.mean - 1.0
    if not abs(residual) < CLOSE:
        raise LineError(f"no equilibrium was found: its sides differ by {residual:.2g}")
    return SpanState(load, h, strain, shape, residual)


def refuse_beyond(conductor: Conductor, strain: float, warmth: float) -> None:
    """LineError: a material would be stretched beyond the end of its published curve."""
    for each in conductor.materials:
        own = 100.0 * (strain - each.expansion * warmth)
        if own > each.end:
            raise LineError(f"a material is stretched by {own:.3g} %; its published curve ends at {each.end:.3g} %")


def length0_of(conductor: Conductor, h: float, span: float, rise: float, load: Load, memory: Memory) -> float:
    """The unstressed length of a span with horizontal tension h. LineError: the conductor cannot carry it."""
    shape = shape_of(h, span, rise, load)
    low = min(0.0, *(each.expansion * load.warmth for each in conductor.materials)) - 0.01
    high = max(0.0, *(each.expansion * load.warmth for each in conductor.materials)) + 0.05

    def excess(strain: float) -> float:
        return tension(conductor, strain, load.warmth, memory) - shape.mean

    strain = root(excess, low, high)
    refuse_beyond(conductor, strain, load.warmth)
    return shape.length / (1.0 + strain)


def ruling_span(spans: Sequence[float]) -> float:
    """The level span whose tension changes as that of a section of level spans with equal tensions."""
    return math.sqrt(sum(span**3 for span in spans) / sum(spans))
