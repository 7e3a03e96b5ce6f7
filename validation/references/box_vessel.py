"""Motions of a box in regular waves on deep water, to first order: the table of ``inputs/moored_vessel.csv``.

``python -m validation.references.box_vessel`` prints it. A box of length L, breadth B and draught T, in waves that it
does not disturb, running at b from the bow: with u = k L cos b/2, w = k B sin b/2, K = exp(-k T), sinc x = sin x/x and
c(x) = 3 (sin x - x cos x)/x^3 the means of the wave and of its slope over the water plane make

    surge, sway  i K sinc u sinc w (cos b, sin b)      as far as the water goes
    heave        K sinc u sinc w D,                    D = 1/(1 - r^2 - 2 i zeta r),  r = omega/omega_n
    roll, pitch  i k K (sin b sinc u c(w), -cos b c(u) sinc w) D
    yaw          -k K sin b cos b c(u) sinc w          as the water turns

times a e^(i theta), theta = k.x - omega t: arguments are lags. Heave and pitch swing with added mass as large as the
mass, omega_n^2 = g/2T (Jensen, Mansour & Olsen, Ocean Engineering 31 (2004) 61). No vessel is quite like this one: roll
and the ratios of damping are chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LENGTH, BREADTH, DRAUGHT, GRAVITY = 120.0, 24.0, 7.0, 9.80665
DAMPING, ROLL_PERIOD, ROLL_DAMPING = 0.2, 13.0, 0.1
HEADINGS = np.arange(0.0, 181.0, 30.0)
PERIODS = np.concatenate([np.arange(2.5, 10.0, 0.5), np.arange(10.0, 16.0, 1.0), np.arange(16.0, 25.0, 2.0)])
NAMES = ("surge", "sway", "heave", "roll", "pitch", "yaw")


def sinc(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """sin x/x."""
    return np.sinc(x / np.pi)


def slope(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """3 (sin x - x cos x)/x^3, 1 at 0."""
    near = np.abs(x) < 1e-2
    y = np.where(near, 1.0, x)
    return np.where(near, 1.0 - x * x / 10.0, 3.0 * (np.sin(y) - y * np.cos(y)) / y**3)


def swings(period: float, heading: float) -> NDArray[np.complex128]:
    """(6,) H of the six motions, of rotations in radians per length."""
    omega, b = 2.0 * np.pi / period, np.radians(heading)
    k = omega**2 / GRAVITY
    u, w = np.array(0.5 * k * LENGTH * np.cos(b)), np.array(0.5 * k * BREADTH * np.sin(b))
    depth, mean = np.exp(-k * DRAUGHT), sinc(u) * sinc(w)
    own, rolls = omega * np.sqrt(2.0 * DRAUGHT / GRAVITY), omega * ROLL_PERIOD / (2.0 * np.pi)
    answer, rolled = 1.0 / (1.0 - own**2 - 2j * DAMPING * own), 1.0 / (1.0 - rolls**2 - 2j * ROLL_DAMPING * rolls)
    found = depth * np.array([
        1j * mean * np.cos(b), 1j * mean * np.sin(b), mean * answer,
        1j * k * np.sin(b) * sinc(u) * slope(w) * rolled, -1j * k * np.cos(b) * slope(u) * sinc(w) * answer,
        -k * np.sin(b) * np.cos(b) * slope(u) * sinc(w),
    ])  # fmt: skip
    return found


def table() -> list[str]:
    """Lines of the file: names, then a row for each heading and period; rotations in degrees per metre."""
    names = [f"{motion}{what}" for motion in NAMES for what in ("", " phase")]
    lines = [", ".join(["heading", "period", *names])]
    for heading in HEADINGS:
        for period in PERIODS:
            found = swings(period, heading) * np.repeat([1.0, 180.0 / np.pi], 3)
            found[np.abs(found) < 1e-12] = 0.0
            pairs = (f"{abs(h):.5f}, {np.degrees(np.angle(h)):.2f}" for h in found)
            lines.append(", ".join([f"{heading:g}", f"{period:g}", *pairs]))
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
