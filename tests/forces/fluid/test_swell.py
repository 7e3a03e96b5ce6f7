"""Increments of EXPLICIT in waves: short enough for the fastest that these move the water, from the start."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import fem
from fem.assembly.system import assemble
from fem.errors import EnergyDrift, ModelError
from fem.forces import families
from fem.forces.fluid import FLUID, orbital
from fem.model.surroundings import water_at
from tests.decks import run_text

LINE = """*NODE, NSET=ALL
1, 0., 0., {top}
5, {across}, 0., {bottom}
*NGEN, NSET=ALL
1, 5, 1
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, 4
*MATERIAL, NAME=M
*ELASTIC
{young}
*DENSITY
20.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*AQUA
-50., 0., 9.81, 1000.
{current}, 0., 0., 0.
{waves}*AMPLITUDE, NAME=GROWS, DEFINITION=SMOOTH STEP
0., 0.
5., 0.5
*DRAG LAW, NAME=LAW
1., 200.
2., 800.
5., 1000.
*BOUNDARY
{held}
5, 1, 3
ALL, 2
*STEP, NLGEOM
*DYNAMIC, {procedure}
*DLOAD
{loads}
*NODE PRINT, NSET=ALL, FREQUENCY=5
U, V
*END STEP
"""
SEA = "*WAVE, TYPE=AIRY, WAVE PERIOD, RAMP=4.\n3., 6., 0., 1., 0.\n"
DRAG = "LINE, FDD, 1., 0.5, 1.2"


def deck(
    procedure="EXPLICIT\n1000., 2000.", waves=SEA, loads=DRAG, *, current=0.0, young=1e-3, level=-6.0, upright=False
):
    """Four bars of 1 m between two ends, of 20 kg/m."""
    places = {"top": level, "bottom": level - 4.0, "across": 0.0} if upright else {}
    places = places or {"top": level, "bottom": level, "across": 4.0}
    return LINE.format(
        **places, young=young, current=current, waves=waves, held="1, 1, 3", procedure=procedure, loads=loads
    )


def critical(**given) -> float:
    """The increment that a far too long one is told to exceed."""
    with pytest.raises(ModelError, match="exceeds the critical one") as told:
        run_text(deck(**given))
    return float(str(told.value).split("the critical one, ")[1].split(",")[0])


def fastest(height: float, rise: float = 3.0, omega: float = 2.0 * math.pi / 6.0, depth: float = 50.0) -> float:
    """a omega cosh k(z+h)/sinh kh, z raised by the amplitude."""
    k = omega**2 / 9.81
    for _ in range(100):
        k = omega**2 / (9.81 * math.tanh(k * depth))
    z = min(height + rise, 0.0)
    return rise * omega * math.cosh(k * (z + depth)) / math.sinh(k * depth)


def longest(damping: float) -> float:
    """m/c of chains of dampers c per length: M = 20 I, C = c (2/3 I + 1/6 (both neighbours)), three free nodes."""
    return 20.0 / (damping * (2.0 / 3.0 + 2.0 / 6.0 * math.cos(math.pi / 4.0)))


@pytest.mark.parametrize("level", [-20.0, -6.0, -1.0])
def test_drag_bounds_increments_by_the_speed_of_the_water(level):
    """Springs being negligible: dt = m/c, c = 2 k_n W; waves that rise from nothing count in full from the start."""
    stiff = critical(waves="", level=level)
    assert stiff > 50.0
    assert critical(level=level) == pytest.approx(longest(2.0 * 300.0 * fastest(level)), rel=1e-4)


def test_amplitudes_of_waves_count_at_their_largest():
    half = critical(loads=DRAG + ", , , GROWS")
    assert half == pytest.approx(2.0 * critical(), rel=1e-4)


def test_currents_count_beside_waves_where_bars_emerge():
    """1 m/s along the bars has no drag across them, but where waves lay them bare it is taken to be across, too."""
    assert critical(current=1.0) == pytest.approx(critical(), rel=1e-4)
    emerging = critical(current=1.0, level=-1.0)
    assert emerging == pytest.approx(longest(2.0 * 300.0 * (fastest(-1.0) + 1.0)), rel=1e-4)


@pytest.mark.parametrize("level, slope", [(-17.0, 200.0), (-10.0, 600.0)])
def test_drag_laws_count_by_their_steepest_part_within_reach(level, slope):
    """0.8 m/s and 1.5 m/s."""
    waves = SEA.replace("6.,", "7.,")
    assert 1.0 < fastest(-10.0, omega=2.0 * math.pi / 7.0) < 2.0 and fastest(-17.0, omega=2.0 * math.pi / 7.0) < 1.0
    found = critical(waves=waves, loads="LINE, FDD, 1., 0.5, LAW", level=level)
    assert found == pytest.approx(longest(slope), rel=1e-4)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 3.0])
def test_drag_along_bars(exponent):
    """h k_t W^(h-1), k_t = pi rho D C_t/2: of bars that resist across, too, but less."""
    k_t = 0.5 * math.pi * 1000.0 * 0.5 * 0.4
    found = critical(loads=f"LINE, FDT, 1., 0.5, 0.4, , {exponent}")
    along = exponent * k_t * fastest(-6.0) ** (exponent - 1.0)
    assert found == pytest.approx(longest(along), rel=1e-4)


@pytest.mark.parametrize("stretching", ["VERTICAL", "WHEELER", "NONE"])
def test_no_water_is_faster(stretching):
    """Of a sea, at random places and times."""
    waves = f"*WAVE, TYPE=JONSWAP, SEED=3, COMPONENTS=30, STRETCHING={stretching}\n4., 8., 3.3, 1., 0.\n"
    model = fem.parse_deck(deck(waves=waves))
    (own,) = (each for each in assemble(model).families if hasattr(each, "sea") and hasattr(each, "sea_nodes"))
    rng = np.random.default_rng(1)
    places = rng.uniform([-500.0, -500.0, -50.0], [500.0, 500.0, 4.0], (4000, 3))
    _, velocity, _ = water_at(model.waves, model.water, 2, places, 100.0)
    speed, most = np.linalg.norm(velocity, axis=1), orbital(own.sea, np.repeat(places[:, 2:], 2, axis=1))
    assert (speed <= most).all() and (speed > 0.3 * most).any()


def test_waves_do_not_run_away_with_increments(monkeypatch):
    """A light line in a storm. As short as a current asks for, increments do not stay stable; blank ones now do."""
    asked = {"loads": DRAG + "\nLINE, FDT, 1., 0.5, 0.05", "current": 0.2, "young": 2e3, "level": -1.0, "upright": True}
    history = run_text(deck("EXPLICIT\n, 12.", **asked))
    exact = run_text(deck("DIRECT, TIME INTEGRATOR=NEWMARK\n0.005, 12.", **asked))
    assert history.time[1] - history.time[0] < 0.06
    assert history.u[-1] == pytest.approx(exact.u[-1], abs=5e-3 * np.abs(exact.u).max())
    calm = replace(FLUID, stiffest=lambda own, place, u, dt: own)
    monkeypatch.setattr(families, "FAMILIES", [calm, *families.FAMILIES[1:]])
    with pytest.raises(EnergyDrift):
        run_text(deck("EXPLICIT\n, 12.", **asked))
