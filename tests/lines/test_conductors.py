"""Conductors of a core and wires: the catenary against quadrature, the law, published states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad, trapezoid

from fem.lines.conductors import (
    Load,
    length0_of,
    new,
    polynomial,
    ruling_span,
    shape_of,
    state_of,
    stress,
    stretched,
    tension,
)
from fem.lines.hanging import LineError
from fem.lines.sagging import conductor_of, which
from fem.lines.spans import section_of

FOOT, POUND, POUND_FOOT = 0.3048, 4.4482216, 14.593903
DRAKE = conductor_of(section_of("drake"))
PLAIN = Load(16.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("h", "rise", "wind"), [(20e3, 0.0, 0.0), (30e3, 40.0, 0.0), (2e3, -90.0, 0.0), (9e3, 60.0, 12.0)]
)
def test_the_catenary_is_that_of_quadrature(h, rise, wind):
    """y = c cosh(x/c + m1) in the plane of the load, between the two ends; its length, mean tension, sag, ends."""
    load = Load(16.0, wind, 0.0, 0.0)
    shape, w = shape_of(h, 300.0, rise, load), load.resultant
    up = rise * math.cos(load.swing)
    across, c = math.sqrt(300.0**2 + rise**2 - up**2), h / load.resultant
    m1 = math.asinh(up / (2 * c * math.sinh(across / (2 * c)))) - across / (2 * c)

    def y(x):
        return c * (math.cosh(x / c + m1) - math.cosh(m1))

    assert y(across) == pytest.approx(up, rel=1e-9, abs=1e-9)
    length = quad(lambda x: math.cosh(x / c + m1), 0.0, across)[0]
    assert shape.length == pytest.approx(length, rel=1e-12)
    assert shape.mean == pytest.approx(
        quad(lambda x: h * math.cosh(x / c + m1) ** 2, 0.0, across)[0] / length, rel=1e-12
    )
    assert shape.sag == pytest.approx(0.5 * up - y(0.5 * across), rel=1e-9)
    assert (shape.first, shape.last) == pytest.approx((h * math.cosh(m1), h * math.cosh(across / c + m1)), rel=1e-12)
    lowest = min(y(x) for x in np.linspace(0.0, across, 20001))
    assert shape.lowest == pytest.approx(-lowest, abs=1e-4)
    vertical = math.copysign(math.sqrt(shape.last**2 - h**2), math.sinh(across / c + m1))
    assert vertical + math.copysign(math.sqrt(shape.first**2 - h**2), -math.sinh(m1)) == pytest.approx(w * length)


def test_materials_that_are_new_follow_their_curves_and_never_push():
    core, wires = DRAKE.materials
    for each in (core, wires):
        assert stress(each, -1e-3, None) == stress(each, 0.0, None) == 0.0
    # by hand, in psi at 0.3 %: -1213 + 44308.1 x - 14004.4 x^2 - 37618 x^3 + 30676 x^4
    by_hand = -1213 + 0.3 * 44308.1 - 0.09 * 14004.4 - 0.027 * 37618 + 0.0081 * 30676
    assert stress(wires, 3e-3, None) == pytest.approx(by_hand * 6894.757, rel=1e-6)
    warm = tension(DRAKE, 0.0, -50.0, new(DRAKE))
    assert warm == pytest.approx(DRAKE.area * sum(stress(m, 50 * m.expansion, None) for m in DRAKE.materials))


@pytest.mark.parametrize("by_creep", [False, True])
def test_what_is_stretched_goes_back_along_the_final_modulus_and_then_on(by_creep):
    memory = stretched(DRAKE, 2.5e-3, 10.0, by_creep)
    for each, point in zip(DRAKE.materials, memory, strict=True):
        assert point.strain == 2.5e-3 - 10.0 * each.expansion
        curve = each.creep if by_creep else each.initial
        assert stress(each, point.strain, point) == polynomial(each, curve, point.strain) == point.stress
        step = 1e-5
        slope = (point.stress - stress(each, point.strain - step, point)) / step
        assert slope == pytest.approx(each.modulus, rel=1e-9)
        assert stress(each, 0.0, point) == max(0.0, point.stress - each.modulus * point.strain)
        # beyond it never above the initial curve, and on it again at last
        strains = np.linspace(point.strain, 4.5e-3, 200)
        values = [stress(each, strain, point) for strain in strains]
        assert all(
            value <= stress(each, strain, None) * (1 + 1e-12) for value, strain in zip(values, strains, strict=True)
        )
        assert values[-1] == stress(each, strains[-1], None) and np.diff(values).min() > 0.0


@pytest.mark.parametrize("name", ["drake", "gannet", "grosbeak", "dove"])
@pytest.mark.sampled(2)
def test_loading_and_unloading_of_a_conductor_takes_energy(name):
    """The area between the initial curve up to a strain and the way back along the final modulus, of both together."""
    conductor = conductor_of(section_of(name))
    for top in (1e-3, 2e-3, 3e-3, 4e-3):
        memory = stretched(conductor, top, 0.0, False)
        strains = np.linspace(0.0, top, 4001)
        up, back = ([tension(conductor, e, 0.0, each) for e in strains] for each in (new(conductor), memory))
        assert trapezoid(up, strains) > np.trapezoid(back, strains) > 0.0


def test_every_conductor_has_both_materials():
    assert which() == "dove, drake, gannet, grosbeak"
    for name in which().split(", "):
        conductor, made = conductor_of(section_of(name)), section_of(name)
        assert made.mass / conductor.area == pytest.approx(3474, rel=2e-3)
        final = conductor.area * sum(material.modulus for material in conductor.materials)
        assert final == pytest.approx(made.stiffness, rel=0.07)  # Drake's chart: 10.1e6 psi, the stranding's 10.755e6


def test_states_are_those_of_the_otls_library():
    """Unit test of OTLS Models (sag-tension of a cable): Drake, 1200 ft, H 6000 lb at 60 F; lb/ft down and across."""
    span = 1200 * FOOT
    at_60 = Load(1.094 * POUND_FOOT, 0.0, 0.0, -10 / 1.8)
    length0 = length0_of(DRAKE, 6000 * POUND, span, 0.0, at_60, new(DRAKE))

    def h_at(fahrenheit, down=1.094, across=0.0, memory=None):
        load = Load(down * POUND_FOOT, across * POUND_FOOT, 0.0, (fahrenheit - 70) / 1.8)
        state = state_of(DRAKE, length0, span, 0.0, load, memory or new(DRAKE))
        assert abs(state.residual) < 1e-11
        return state.h / POUND, state

    loaded, state = h_at(0, 2.099, 1.405)
    memory = stretched(DRAKE, state.strain, state.load.warmth, False)
    found = [h_at(60)[0], h_at(0)[0], h_at(212)[0], h_at(0, 3.729, 2.072)[0], loaded]
    found += [h_at(fahrenheit, memory=memory)[0] for fahrenheit in (60, 0, 212)]
    assert found == pytest.approx([6000, 6787.6, 4702.2, 17125.9, 12146.8, 5561.5, 6320.1, 4537.2], rel=5e-4)
    assert h_at(0, 2.099, 1.405, memory)[0] == pytest.approx(loaded, rel=1e-9)  # loaded again: where it has been


def test_a_strain_beyond_the_chart_is_refused():
    with pytest.raises(LineError, match=r"its published curve ends at 0\.5 %"):
        state_of(DRAKE, 300.0, 300.0, 0.0, Load(400.0, 0.0, 0.0, 0.0), new(DRAKE))


def test_the_ruling_span_is_between_the_spans():
    assert ruling_span([300.0]) == pytest.approx(300.0, rel=1e-15)
    assert ruling_span([200.0, 400.0]) == pytest.approx(math.sqrt((200**3 + 400**3) / 600))


def test_the_ruling_span_pulls_as_its_spans_do():
    """Parabolas of equal tension: their slack adds up to that of so many ruling spans (to third order of the sags)."""
    spans, h = [200.0, 300.0, 350.0], 25e3
    ruling = ruling_span(spans)
    slack = sum(shape_of(h, span, 0.0, PLAIN).length - span for span in spans) / sum(spans)
    assert slack == pytest.approx((shape_of(h, ruling, 0.0, PLAIN).length - ruling) / ruling, rel=1e-3)
