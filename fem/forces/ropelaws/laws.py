"""Stress of a bar at the end of an increment, and what it remembers then.

TABLE, without time: the quasi-static curve alone.
PRONY: stress = E e + sum h_k, h_k' = E_k e' - h_k/time_k, solved exactly for a strain that goes straight from one end
of the increment to the other: h1 = h0 exp(-z) + E_k (e1 - e0) (1 - exp(-z))/z, z = dt/time_k. Each stores h^2/(2 E_k).
LAGGING: two springs in series, the slow one beside a dashpot. With the quasi-static strain q, at which the quasi-static
curve Q has the mean stress, and the dynamic modulus K = a + b Q(q):

    stress = Q(q) + K (e - q),    slow strain s = q - f(Q(q)),  f(Q) = ln(1 + b Q/a)/b,    viscosity s' = K (e - q)

f is the strain of the fast spring under the mean stress, de = dQ/K. Stored: the area below Q, and Q (e - q) +
K (e - q)^2/2. s1 - s0 = dt (t K1 (e1 - q1) + (1 - t) K0 (e0 - q0))/viscosity, with t = 1/(1 - exp(-z)) - 1/z, z = dt
over the time of relaxation at the start: of second order, exact where Q is straight and b = 0, quiet where dt is long.
Source: E. Falkenberg, V. Ahjem, L. Yang, Best practice for analysis of polyester rope mooring systems, OTC-27761
(2017); Z. Wei, H. B. Bingham, Y. Shao, ESOMOOR D5.1 (2026); M. Hall, B. Duong, E. Lozon, IOWTC2023-119524.

A slack rope: the material has no stress and its strain, more than that of the bar, goes its own way.
"""

from __future__ import annotations

import math

from fem.compiled import inner_kernel
from fem.forces.protocol import Trial
from fem.forces.ropelaws.curves import faded, lost_so_far, quasi_static, set_strain
from fem.forces.ropelaws.group import (
    BRANCH,
    CONSTANT,
    LARGEST,
    LOST,
    PULL,
    SLOPE,
    SLOW,
    STATE,
    STORED,
    STRAIN,
    STRESS,
    TENSION_ONLY,
    VISCOSITY,
    YOUNG,
    RopeBars,
)

CLOSE = 1e-6
"""Ends of an increment as near as this, over their strains, have the mean of their stresses."""
MOST = 200
SETTLED = 1e-15


@inner_kernel
def remember(
    first: int, strain: float, largest: float, slow: float, lost: float, stress: float, stored: float, trial: Trial
) -> None:
    """The states of a bar but those of its branches; lost: in this increment."""
    state = trial.state1
    state[first + STRAIN], state[first + LARGEST], state[first + SLOW] = strain, largest, slow
    state[first + LOST] = trial.state0[first + LOST] + lost
    state[first + STRESS], state[first + STORED] = stress, stored


@inner_kernel
def without_time(b: int, strain: float, trial: Trial, own: RopeBars) -> tuple[float, float]:
    """TABLE: stress (secant: mean over the increment) and modulus."""
    first = own.places[b, STATE]
    before, largest = trial.state0[first + STRAIN], trial.state0[first + LARGEST]
    stress, slope, stored, piece = quasi_static(b, strain, largest, own)
    most = max(largest, strain)
    lost = lost_so_far(b, most, own) - lost_so_far(b, largest, own) if most > largest else 0.0
    remember(first, strain, most, 0.0, lost, stress, stored, trial)
    if not trial.secant:
        return stress, slope
    earlier, _, had, piece0 = quasi_static(b, before, largest, own)
    rise = strain - before
    if piece == piece0 or abs(rise) <= CLOSE * (abs(strain) + abs(before)):
        return 0.5 * (stress + earlier), 0.5 * slope
    mean = (stored - had + lost) / rise
    return mean, (stress - mean) / rise


@inner_kernel
def with_branches(
    b: int, start: float, end: float, dt: float, is_relaxed: bool, trial: Trial, own: RopeBars
) -> tuple[float, float]:
    """PRONY: stress (secant: mean of both ends) and modulus; start, end: strains of the bar."""
    first, place, count = own.places[b, STATE], own.places[b, BRANCH], own.places[b, BRANCH + 1]
    young, before = own.numbers[b, YOUNG], trial.state0[first + STRAIN]
    modulus, left = young, young * before
    for k in range(count):
        keep, mean, _ = faded(math.inf if is_relaxed else dt / own.branches[place + k, 1])
        modulus += own.branches[place + k, 0] * mean
        left += keep * trial.state0[first + PULL + k]
    rise, slope = end - before, modulus
    if own.kinds[b, TENSION_ONLY] == 1 and left + modulus * rise < 0.0:
        rise, slope = -left / modulus, 0.0
    strain = before + rise
    stress = left + modulus * rise if slope != 0.0 else 0.0
    stored, lost = 0.5 * young * strain * strain, 0.0
    for k in range(count):
        stiff, pull0 = own.branches[place + k, 0], trial.state0[first + PULL + k]
        keep, mean, rest = faded(math.inf if is_relaxed else dt / own.branches[place + k, 1])
        pull = keep * pull0 + stiff * mean * rise
        trial.state1[first + PULL + k] = pull
        stored += 0.5 * pull * pull / stiff
        lost += rise * (pull0 * mean + stiff * rest * rise) - 0.5 * (pull - pull0) * (pull + pull0) / stiff
    if trial.secant:
        stress0 = trial.state0[first + STRESS]
        lost = 0.5 * (stress0 + stress) * (end - start) - (stored - trial.state0[first + STORED])
        remember(first, strain, 0.0, 0.0, lost, stress, stored, trial)
        return 0.5 * (stress0 + stress), 0.5 * slope
    remember(first, strain, 0.0, 0.0, lost, stress, stored, trial)
    return stress, slope


@inner_kernel
def slow_strain(b: int, q: float, stress: float, own: RopeBars) -> float:
    """Quasi-static strain less that of the fast spring under the mean stress."""
    constant, slope = own.numbers[b, CONSTANT], own.numbers[b, SLOPE]
    fast: float = stress / constant
    if slope != 0.0 and stress > 0.0:
        fast = math.log1p(slope * stress / constant) / slope
    return q - fast


@inner_kernel
def stiffness_at(b: int, stress: float, own: RopeBars) -> tuple[float, float]:
    """Dynamic modulus at a mean stress, and its derivative by it."""
    if stress <= 0.0:
        return own.numbers[b, CONSTANT], 0.0
    return own.numbers[b, CONSTANT] + own.numbers[b, SLOPE] * stress, own.numbers[b, SLOPE]


@inner_kernel
def late_share(z: float) -> float:
    """1/(1 - exp(-z)) - 1/z."""
    if z < 1e-3:
        return 0.5 + z / 12.0
    return -1.0 / math.expm1(-z) - 1.0 / z


@inner_kernel
def drift(
    b: int, q: float, end: float, largest: float, late: float, is_slack: bool, own: RopeBars
) -> tuple[float, float]:
    """Slow strain, less ``late`` times the stress of the dashpot, over q; and its derivative."""
    stress, slope, _, _ = quasi_static(b, q, largest, own)
    modulus, more = stiffness_at(b, stress, own)
    value, rate = slow_strain(b, q, stress, own), 1.0 - slope / modulus
    if is_slack:
        return value + late * stress, rate + late * slope
    return value - late * modulus * (end - q), rate + late * (modulus - more * slope * (end - q))


@inner_kernel
def solve_slow(
    b: int, guess: float, end: float, largest: float, late: float, wanted: float, is_slack: bool, own: RopeBars
) -> float:
    """q where ``drift``, which rises, is as wanted: Newton between bounds; NaN where it is not found."""
    low, high, q = -math.inf, math.inf, guess
    for _ in range(MOST):
        value, rate = drift(b, q, end, largest, late, is_slack, own)
        if value < wanted:
            low = q
        else:
            high = q
        step = q + (wanted - value) / rate
        if not low < step < high:
            step = 0.5 * (low + high) if high - low < math.inf else step
        if abs(step - q) <= SETTLED * (1e-3 + abs(q)) or high - low <= SETTLED * (1e-3 + abs(q)):
            return step
        q = step
    return math.nan


@inner_kernel
def behind(
    b: int, start: float, end: float, dt: float, is_relaxed: bool, trial: Trial, own: RopeBars
) -> tuple[float, float]:
    """LAGGING: stress (secant: mean of both ends) and modulus; start, end: strains of the bar.

    Where q is not found it stays, and what is lost is NaN from there on: the run stops (``bar.trouble``).
    """
    first, ropes = own.places[b, STATE], own.kinds[b, TENSION_ONLY] == 1
    before, largest = trial.state0[first + STRAIN], trial.state0[first + LARGEST]
    q0, stress0 = trial.state0[first + SLOW], trial.state0[first + STRESS]
    mean, slope, stored0, _ = quasi_static(b, q0, largest, own)
    stiff, _ = stiffness_at(b, mean, own)
    q, chase, unfound = q0, 0.0, 0.0
    if is_relaxed:
        q, chase = (max(end, set_strain(b, max(largest, end), own)) if ropes else end), 1.0
    elif dt > 0.0:
        viscosity = own.numbers[b, VISCOSITY]
        share = late_share(dt * stiff / (viscosity * (1.0 - slope / stiff)))
        late = share * dt / viscosity
        wanted = slow_strain(b, q0, mean, own) + (1.0 - share) * dt / viscosity * (stress0 - mean)
        q = solve_slow(b, q0, end, largest, late, wanted, False, own)
        if q != q:
            q, unfound = q0, math.nan
        held, rise, _, _ = quasi_static(b, q, largest, own)
        fast, more = stiffness_at(b, held, own)
        if ropes and held + fast * (end - q) < 0.0:
            q = solve_slow(b, q, end, largest, late, wanted, True, own)
            if q != q:
                q, unfound = q0, math.nan
        else:
            chase = late * fast / (1.0 - rise / fast + late * (fast - more * rise * (end - q)))
    most = max(largest, q)
    mean, slope, stored, _ = quasi_static(b, q, most, own)
    stiff, more = stiffness_at(b, mean, own)
    ahead = end - q
    stress, modulus = mean + stiff * ahead, stiff + (slope + more * slope * ahead - stiff) * chase
    if ropes and (stress < 0.0 or (is_relaxed and end < q)):
        ahead, stress, modulus = -mean / stiff, 0.0, 0.0
    stored += mean * ahead + 0.5 * stiff * ahead * ahead
    had = trial.state0[first + STORED]
    if is_relaxed and not trial.secant:
        lost = lost_so_far(b, most, own) - lost_so_far(b, largest, own) + had - stored0
    else:
        along = end - start if trial.secant else q + ahead - before
        lost = 0.5 * (stress0 + stress) * along - (stored - had)
    remember(first, q + ahead, most, q, lost + unfound, stress, stored, trial)
    return (0.5 * (stress0 + stress), 0.5 * modulus) if trial.secant else (stress, modulus)
