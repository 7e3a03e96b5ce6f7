"""Vessels that move in waves: tables of response amplitude operators, ``*RAO``.

A regular wave eta = a cos theta, with theta = k (x cos b + y sin b) - omega t + phase at the reference point, moves a
vessel in each of its six motions by

    q = a |H| cos(theta + lag) = Re(a H e^(i theta)),   H = |H| e^(i lag)

theta falls with time: a motion has its crest lag/omega later than the wave. Between the rows of a table H itself is
interpolated, its real and its imaginary part, linearly over the circular frequency and then over the heading: no phase
has to be unwrapped, and where a motion vanishes its phase has no influence. Headings more than ``WIDEST`` apart are not
interpolated, and there is no extrapolation beyond the table unless the deck asks for it.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Complexes, Flags, Floats, distinct, frozen
from fem.model.surroundings import wave_numbers

MOTIONS = ("surge", "sway", "heave", "roll", "pitch", "yaw")
ERROR, ZERO, HOLD = "ERROR", "ZERO", "HOLD"
OUTSIDE = (ERROR, ZERO, HOLD)
WIDEST = 90.0
"""Largest difference of two headings of a table [degrees] between which it is interpolated."""
NEAR = 1e-9
"""Periods and headings with a smaller relative difference are equal."""
TURNED = 150.0
"""Phase change [degrees] that shows a zero of the motion, where linear interpolation of H is right."""
VISIBLE = 0.05
"""The phase of a motion matters above this fraction of its largest amplitude."""
NOISE = 1e-6
"""Phases of amplitudes below this fraction of the largest are rounding errors."""
CLOSE, TURN = 2.5, 45.0
"""The longest waves are followed within this factor (the table may be for another depth) and this angle [degrees]."""
RIDES = 0.7
"""Heave over wave amplitude, down to which its phase comes from damping."""
SEEN = 0.02
"""Smallest phase of heave [radians] whose sign is significant."""


@frozen
class Rao:
    """``*RAO``: rows (omega, heading, six amplitudes, six lags) of a vessel with x to the bow, y to port, z up.

    heading  in which waves run, degrees from the bow towards port: 0 following, 90 from starboard, 180 head sea
    amplitudes over that of the wave, of rotations in degrees per length; lags behind the crest at the reference point,
    in degrees
    outside  what the vessel does in waves beyond the frequencies of the table
    """

    name: str
    rows: tuple[tuple[float, ...], ...]
    outside: str = ERROR

    @property
    def headings(self) -> Floats:
        """(h,) headings of the table, rising, from 0 to below 360."""
        return distinct(np.array([row[1] for row in self.rows]) % 360.0)

    def at(self, heading: float) -> tuple[Floats, Complexes]:
        """Circular frequencies (n,) rising, and H (6, n), of a heading of the table; rotations in degrees."""
        rows = np.array(sorted(row for row in self.rows if row[1] % 360.0 == heading))
        return rows[:, 0], (rows[:, 2:8] * np.exp(1j * np.radians(rows[:, 8:]))).T

    def answer(self, omega: Floats, heading: Floats) -> tuple[Complexes, Flags, Flags]:
        """H (6, c) in waves (c,) that run at ``heading`` from the bow, rotations in radians.
        Which waves have a frequency, which a heading, that the table has not."""
        ways = self.headings
        found = np.zeros((len(ways), len(omega), 6), complex)
        beyond = np.zeros((len(ways), len(omega)), np.bool_)
        for number, way in enumerate(ways):
            own, values = self.at(way)
            beyond[number] = (omega < own[0] * (1.0 - NEAR)) | (omega > own[-1] * (1.0 + NEAR))
            found[number] = np.array([np.interp(omega, own, each) for each in values]).T
        if self.outside == ZERO:
            found[beyond] = 0.0
        places = ways - ways[0]
        gaps = np.diff(np.append(places, 360.0))
        if len(ways) > 1 and gaps[-1] <= gaps[:-1].max() * (1.0 + NEAR):  # they go all the way round
            places = np.append(places, 360.0)
            found, beyond = np.append(found, found[:1], 0), np.append(beyond, beyond[:1], 0)
        turned = (heading - ways[0] + 360.0 * NEAR) % 360.0 - 360.0 * NEAR
        at = np.interp(turned, places, np.arange(len(places)))
        low = np.minimum(at.astype(np.int64), max(len(places) - 2, 0))
        high, part, each = np.minimum(low + 1, len(places) - 1), at - low, np.arange(len(omega))
        is_between = (part > NEAR) & (part < 1.0 - NEAR)
        is_turned = (turned > places[-1] + 360.0 * NEAR) | (is_between & (places[high] - places[low] > WIDEST))
        is_off = (beyond[low, each] & (part < 1.0 - NEAR)) | (beyond[high, each] & (part > NEAR))
        mixed = (1.0 - part)[:, None] * found[low, each] + part[:, None] * found[high, each]
        mixed[:, 3:] *= np.pi / 180.0
        return np.ascontiguousarray(mixed.T), is_off, is_turned

    def steepest(self) -> tuple[float, str, float, float, float]:
        """The largest turn of the phase [degrees] from one frequency of the table to the next, its motion and heading,
        and the two frequencies: chords across it leave cos(turn/2) of the amplitude."""
        found = (0.0, MOTIONS[0], 0.0, 0.0, 0.0)
        for heading in self.headings:
            omega, values = self.at(heading)
            sizes = np.abs(values)
            seen = sizes > np.maximum(VISIBLE * sizes.max(axis=1, keepdims=True), NOISE * sizes.max())
            turns = np.abs(np.degrees(np.angle(values[:, 1:] * values[:, :-1].conj())))
            turns[~(seen[:, 1:] & seen[:, :-1]) | (turns > TURNED)] = 0.0
            if turns.size and turns.max() > found[0]:
                motion, at = divmod(int(turns.argmax()), turns.shape[1])
                found = float(turns.max()), MOTIONS[motion], float(heading), float(omega[at]), float(omega[at + 1])
        return found

    def misread(self, gravity: float, depth: float) -> list[str]:
        """Conventions that the longest rows contradict; none where heave does not follow the waves there.

        What is small beside a wave moves as the water at the surface: heave 1 and, at heading b, surge and sway
        i coth(kh) (cos b, sin b), roll and pitch k (i sin b, -i cos b), i being a lag of 90 degrees. Opposite signs of
        all but heave are leads for lags, or headings from which waves come: damping makes heave lag, which tells them
        apart.
        """
        ways = np.radians(self.headings)
        rows = [self.at(heading) for heading in self.headings]
        longest = np.array([omega[0] for omega, _ in rows])
        k = wave_numbers(longest, gravity, depth)
        along, across, values = np.cos(ways), np.sin(ways), np.array([answer[:, 0] for _, answer in rows]).T
        water, slope = 1j / np.tanh(np.minimum(k * depth, 100.0)), np.degrees(k)

        def ratio(*motions: tuple[int, Complexes, Floats]) -> complex:
            """Median of motions over their limits, in waves along the direction of the motion."""
            found = np.concatenate(
                [values[at, np.abs(way) > 0.5] / limit[np.abs(way) > 0.5] for at, limit, way in motions]
            )
            return complex(np.median(found.real), np.median(found.imag)) if len(found) else 0.0

        heave = ratio((2, np.ones(len(k), complex), np.ones(len(k))))
        moves = ratio((0, water * along, along), (1, water * across, across))
        turns = ratio((3, 1j * slope * across, across), (4, -1j * slope * along, along))
        is_radian = 1.0 / CLOSE < np.degrees(abs(turns)) < CLOSE
        period = 2.0 * np.pi / longest.min()
        where = f"in the longest waves of the table ({period:.3g})"
        if near(heave, -1.0):
            return [f"{where} heave is opposite to the water: is z down?"]
        if not near(heave, 1.0):
            return []
        found = []
        if near(moves, -1.0) and (turns == 0.0 or near(np.degrees(1.0) * turns if is_radian else turns, -1.0)):
            lags = np.mean([np.angle(answer[2, : rides(answer[2])]).mean() for _, answer in rows])
            lead, way = (
                "phases are leads, not lags (or the reverse): PHASE=",
                "headings are those from which waves come: add 180",
            )
            told = f"{lead}, or {way}" if abs(lags) < SEEN else lead if lags < 0.0 else way
            found.append(f"{where} surge, sway, roll and pitch are opposite to the water: {told}")
        if is_radian:
            found.append(
                f"{where} rotations are {abs(turns):.2g} of the slope of the waves: they are in radians per "
                "length, not in degrees"
            )
        return found


def near(ratio: complex, target: float) -> bool:
    size, turn = abs(ratio / target), abs(np.degrees(np.angle(ratio / target)))
    return bool(1.0 / CLOSE < size < CLOSE and turn < TURN)


def rides(heave: Complexes) -> int:
    """Number of the longest waves that a vessel follows; at least 1."""
    return max(1, int(np.argmin(np.append(np.abs(heave) > RIDES, False))))


def moved_by(rao: Rao, sea: Floats, heading: float) -> Complexes:
    """a H (6, c) in the waves of a sea (c, 6), ``surroundings.components_of``; heading: of the bow, degrees from +x."""
    omega, _, amplitude, _, direction, _ = sea.T
    return np.asarray(amplitude * rao.answer(omega, np.degrees(direction) - heading)[0])
