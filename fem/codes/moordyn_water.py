"""Files beside a MoorDyn input file: currents and waves (options Currents and WaveKin of MoorDyn-C, the file of
WaterKin of MoorDyn-F), and depths (bathymetry).

Source: MoorDyn, docs/waterkinematics.rst and docs/inputs.rst. WaveKin 7 is the sum of a sin(w t - k x + phase) over the
lines of wave_frequencies.txt, stretched as Wheeler has it (source/Waves/SpectrumKin.cpp); a record of the surface at
the origin (WaveKin 3, WaveKinMod 1) is the sum of its Fourier components, all in one direction. Depths: inputs.rst,
Seafloor/Bathymetry File: a grid of points in x and y with a depth at each; beyond the grid the depth is that of its
edge. Two forms: of MoorDyn-C (counts, x, y, then x y z of all points) and of MoorDyn-F (a title, nGridX, nGridY, x of
all columns, then y and the depths of each row).
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fem.arrays import Floats
from fem.codes.moordyn_files import FileRow, Moorings, number_of
from fem.errors import CommandError, FemError


def file_beside(path: Path, word: str) -> Path:
    """A file that another one names: below its folder, or in it (MoorDyn's paths begin where it is started)."""
    named = path.parent / word.strip("\"'")
    return named if named.exists() else path.parent / named.name


def rows_of(path: Path, what: str, asked: FileRow | None, heads: int = 0) -> list[FileRow]:
    """The lines with content, without the first ``heads`` of the file. DeckError: there is no such file,
    or nothing in it (``asked``: the line that names it).
    what  the option that uses the file, for the message"""
    if not path.is_file():
        raise missing(f"{what} from {path}, which does not exist", asked)
    lines = enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
    rows = [FileRow(str(path), number, text, tuple(text.partition("#")[0].split())) for number, text in lines]
    found = [row for row in rows[heads:] if row.words]
    if not found:
        raise missing(f"{what} from {path}, which holds nothing" + f" below {heads} header lines" * bool(heads), asked)
    return found


def missing(message: str, asked: FileRow | None) -> FemError:
    return asked.error(message, 0) if asked else CommandError(message)


def numbers_in(row: FileRow, what: str) -> list[float]:
    """All words of a line; commas may stand between them. DeckError: one is no number."""
    plain = FileRow(
        row.file, row.line, row.text.replace(",", " "), tuple(" ".join(row.words).replace(",", " ").split())
    )
    return [plain.number(place, what) for place in range(len(plain.words))]


def is_number(word: str) -> bool:
    return not math.isnan(number_of(word))


STEADY, CHANGING = "current_profile.txt", "current_profile_dynamic.txt"
COMPONENTS, ELEVATION = "wave_frequencies.txt", "wave_elevation.txt"
STEADY_HEADS, CHANGING_HEADS = 3, 4
SMALL = 1e-6
"""Components of a record below this fraction of the largest are omitted."""
SAME_SHAPE = 1e-9
NOT_HERE = {
    1: "its waves come from the program that drives MoorDyn",
    2: "its waves are interpolated on a grid; with WaveKin 7 the components of the same file are summed",
}


@dataclass(frozen=True, slots=True)
class Wave:
    """amplitude cos(k.x - omega t + phase), towards ``direction``; radians."""

    amplitude: float
    omega: float
    phase: float
    direction: float


@dataclass(frozen=True, slots=True)
class MoorDynWater:
    """currents: rows of z, vx, vy, vz, by rising z; history: (time, factor) of them; what is left out, named."""

    currents: tuple[tuple[float, ...], ...] = ()
    history: tuple[tuple[float, float], ...] = ()
    waves: tuple[Wave, ...] = ()
    notices: tuple[str, ...] = ()

    def lines(self, begin: float) -> list[str]:
        """The card of the waves; begin: total time at which MoorDyn's time begins."""
        found = ["*WAVE, TYPE=AIRY, WAVE PERIOD, STRETCHING=WHEELER"] if self.waves else []
        for wave in self.waves:
            along = math.cos(wave.direction), math.sin(wave.direction)
            phase = math.degrees(wave.phase + wave.omega * begin) % 360.0
            found.append(", ".join(map(repr, (wave.amplitude, 2.0 * math.pi / wave.omega, phase, *along))))
        return found


def water_of(moorings: Moorings) -> MoorDynWater:
    """CommandError: a file is missing. DeckError: an entry is invalid, or has no equivalent in a deck."""
    file = moorings.row("WaterKin")
    named = file.words[0].strip("\"'").lower() if file else ""
    if file and named == "seastate":
        raise file.error("WaterKin SEASTATE takes waves and currents from OpenFAST, not from a file", 0)
    if file and named not in ("", "0", "none", "null", "unused"):
        return of_file(moorings, file)
    currents, history, notices = of_currents(moorings)
    waves, more = of_waves(moorings)
    return MoorDynWater(currents, history, waves, (*notices, *more))


def of_currents(moorings: Moorings) -> tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, float], ...], list[str]]:
    """By the option Currents: steady (1), or one profile times a function of time (2)."""
    kind = moorings.option("Currents", default=0.0)
    if kind == 1.0:
        asked = moorings.row("Currents")
        rows = rows_of(moorings.file.with_name(STEADY), "Currents 1 takes the current", asked, STEADY_HEADS)
        names = ("z", "ux", "uy", "uz")
        return tuple(sorted(tuple(row.number(at, name) for at, name in enumerate(names)) for row in rows)), (), []
    if kind == 2.0:
        return (*changing(moorings), [])
    if kind == 0.0:
        return (), (), []
    why = f"option Currents = {kind:g} left out: there is no current in the deck, which knows profiles (1, 2)"
    return (), (), [why]


def changing(moorings: Moorings) -> tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, float], ...]]:
    """A profile that changes in time: rows of time, then vx at all depths, vy, vz."""
    asked = moorings.row("Currents")
    first, *rows = rows_of(moorings.file.with_name(CHANGING), "Currents 2 takes the current", asked, CHANGING_HEADS)
    depths = numbers_in(first, "a depth")
    if rows and not all(map(is_number, rows[0].words)):
        rows = rows[1:]
    parts = len(depths)
    found: list[tuple[float, Floats]] = []
    for row in rows:
        values = numbers_in(row, "time, then velocities")
        if len(values) - 1 not in (parts, 2 * parts, 3 * parts) or (found and values[0] <= found[-1][0]):
            raise row.error(f"expected a later time, then {parts}, {2 * parts} or {3 * parts} velocities")
        found.append((values[0], np.pad(values[1:], (0, 3 * parts + 1 - len(values)))))
    if not found:
        raise first.error("no velocities below the depths")
    table = np.array([values for _, values in found])
    shape = table[np.abs(table).max(axis=1).argmax()]
    factor = table @ shape / (shape @ shape or 1.0)
    if np.abs(table - factor[:, None] * shape).max() > SAME_SHAPE * np.abs(shape).max():
        what = "the profile of the current changes its shape in time"
        raise first.error(what, 0, "a deck has one profile, times a curve")
    profile = sorted((z, *velocity) for z, velocity in zip(depths, shape.reshape(3, parts).T.tolist(), strict=True))
    return tuple(profile), tuple((time, float(each)) for (time, _), each in zip(found, factor, strict=True))


def of_waves(moorings: Moorings) -> tuple[tuple[Wave, ...], list[str]]:
    """By the option WaveKin: components (7), or a record of the surface (3)."""
    kind = moorings.option("WaveKin", default=0.0)
    if kind == 7.0:
        rows = rows_of(moorings.file.with_name(COMPONENTS), "WaveKin 7 takes the waves", moorings.row("WaveKin"))
        return tuple(wave for row in rows if (wave := component(row)).amplitude), []
    if kind == 3.0:
        path = moorings.file.with_name(ELEVATION)
        asked, dt = moorings.row("WaveKin"), moorings.option("dtWave", default=0.25)
        return recorded(path, "WaveKin 3 takes the waves", asked, dt, 0.0)
    if kind == 0.0:
        return (), []
    why = NOT_HERE.get(int(kind), "it is unknown")
    return (), [f"option WaveKin = {kind:g} left out, there are no waves in the deck: {why}"]


def component(row: FileRow) -> Wave:
    """omega, real and imaginary part, direction: |A| sin(w t - k x + arg A) = |A| cos(k x - w t + pi/2 - arg A)."""
    omega, real, imaginary = (row.number(at, what) for at, what in enumerate(("the frequency", "a part", "a part")))
    direction = row.number(3, "the direction") if len(row.words) > 3 else 0.0
    amplitude = complex(real, imaginary)
    if omega < 0.0 or (omega == 0.0 and amplitude):
        raise row.error("a wave needs a positive frequency", 0)
    return Wave(abs(amplitude), omega, 0.5 * math.pi - cmath.phase(amplitude), direction)


def recorded(
    path: Path, what: str, asked: FileRow | None, dt: float, direction: float
) -> tuple[tuple[Wave, ...], list[str]]:
    """The Fourier components of a record of time and elevation, sampled every ``dt``."""
    rows = [row for row in rows_of(path, what, asked) if is_number(row.words[0].strip(","))]
    if len(rows) < 4:
        raise CommandError(f"{path} holds no record of the surface: time and elevation in each line")
    table = np.array([pair(row) for row in rows])
    (late,) = np.nonzero(np.diff(table[:, 0]) <= 0.0)
    if late.size:
        raise rows[late[0] + 1].error("times must rise", 0)
    if not 0.0 < dt < table[-1, 0] - table[0, 0]:
        raise CommandError(f"dtWave = {dt:g} samples no record of {table[-1, 0] - table[0, 0]:g} s")
    count = round((table[-1, 0] - table[0, 0]) / dt)
    samples = np.interp(table[0, 0] + dt * np.arange(count), *table.T)
    found = np.fft.rfft(samples) * 2.0 / count
    mean, found = 0.5 * found[0].real, found[1 : (count - 1) // 2 + 1]
    omegas = 2.0 * np.pi * np.arange(1, len(found) + 1) / (count * dt)
    phases = -np.angle(found) + omegas * table[0, 0]  # a cos(w t + arg c) = a cos(-w t - arg c)
    kept = np.abs(found) > SMALL * np.abs(found).max(initial=0.0)
    each = zip(np.abs(found)[kept].tolist(), omegas[kept].tolist(), phases[kept].tolist(), strict=True)
    notices = [f"{path.name}: the mean of the record, {mean:.4g}, is left out"] if abs(mean) > SMALL else []
    return tuple(Wave(*wave, direction) for wave in each), notices


def pair(row: FileRow) -> list[float]:
    """A line with a time and an elevation."""
    values = numbers_in(row, "time, elevation")
    if len(values) < 2:
        raise row.error("the elevation is missing", 1)
    return values[:2]


def of_file(moorings: Moorings, asked: FileRow) -> MoorDynWater:
    """MoorDyn-F's file of waves and currents: sections of values, each before its name."""
    path = file_beside(moorings.file, asked.words[0])
    rows = rows_of(path, "WaterKin takes waves and currents", asked)
    heads = [(k, row.text.upper()) for k, row in enumerate(rows) if "---" in row.text]
    starts = {name: k for k, text in heads for name in ("WAVES", "CURRENT") if name in text}
    missing = [name for name in ("WAVES", "CURRENT") if name not in starts]
    if missing:
        raise asked.error(f"{path.name} has no section {' and '.join(missing)}", 0)
    named = {row.words[1].lower(): row for row in rows if len(row.words) > 1 and "---" not in row.text}
    waves: tuple[Wave, ...] = ()
    notices: list[str] = []
    kinds = []
    for name in ("wavekinmod", "currentmod"):
        if name not in named:
            raise asked.error(f"{path.name} has no {name}", 0)
        kinds.append(int(named[name].number(0, name)))
        if kinds[-1] not in (0, 1):
            what = "waves and currents of OpenFAST's SeaState are not in MoorDyn's files"
            raise named[name].error(what, 0, "0 or 1 are")
    if kinds[0] == 1:
        wanted = [named.get(name) for name in ("wavekinfile", "dtwave", "wavedir")]
        if None in wanted:
            raise named["wavekinmod"].error("WaveKinMod 1 needs WaveKinFile, dtWave and WaveDir")
        file, dt, heading = (row for row in wanted if row)
        angle = math.radians(heading.number(0, "the direction"))
        record = file_beside(path, file.words[0])
        waves, notices = recorded(record, "WaveKinFile takes the waves", file, dt.number(0, "dtWave"), angle)
    return MoorDynWater(profile(rows[starts["CURRENT"] :]) if kinds[1] == 1 else (), (), waves, tuple(notices))


def profile(rows: list[FileRow]) -> tuple[tuple[float, ...], ...]:
    """The table of depths below the line with its units: z, vx, vy, vz."""
    heads = [k for k, row in enumerate(rows) if "(m/s)" in row.text.lower()]
    if not heads:
        raise rows[0].error("no table of the current with a line of units, (m) (m/s) (m/s)")
    found = []
    for row in rows[heads[-1] + 1 :]:
        if "---" in row.text:
            break
        found.append((-abs(row.number(0, "a depth")), row.number(1, "vx"), row.number(2, "vy"), 0.0))
    return tuple(sorted(found))


FLAT = 1e-6
"""Largest distance of points from their plane, as a fraction of the largest depth."""


@dataclass(frozen=True, slots=True)
class Bathymetry:
    """A plane z = -depth + x ``rise`` + y ``across``, or points (n, 3) of a grid; ``mean``: depth of the water, for
    waves."""

    depth: float
    mean: float
    rise: float = 0.0
    across: float = 0.0
    points: Floats | None = None

    @property
    def is_level(self) -> bool:
        return not (self.rise or self.across or self.points is not None)

    def parameters(self) -> str:
        """Parameters of ``*SEABED``, if it differs from a level bottom at the depth of the water; rows of a grid."""
        if self.points is not None:
            rows = (", ".join(map(repr, point)) for point in self.points.tolist())
            return "\n".join([f", POINTS={len(self.points)}", *rows])
        if self.is_level:
            return "" if self.depth == self.mean else f", ELEVATION={-self.depth!r}"
        slope = math.degrees(math.atan(math.hypot(self.rise, self.across)))
        uphill = math.degrees(math.atan2(self.across, self.rise))
        return f", ELEVATION={-self.depth!r}, SLOPE={slope!r}, UPHILL={uphill!r}"


def bottom_of(moorings: Moorings) -> Bathymetry:
    """By WtrDpth (depth), or a file of depths: a plane, or a grid, also where points lie beyond a sloping one."""
    row = moorings.row("SeafloorFile") or moorings.row("WtrDpth", "depth")
    if row is None or is_number(row.words[0]):
        depth = moorings.option("WtrDpth", "depth", default=0.0)
        deepest = max([depth, *(-end.place[2] for end in moorings.points.values())])
        return Bathymetry(deepest, deepest)
    found = rows_of(file_beside(moorings.file, row.words[0]), f"{row.words[1]} takes the seabed", row)
    points = grid(found, row)
    z0, rise, across = np.linalg.lstsq(np.column_stack([np.ones(len(points)), points[:, :2]]), points[:, 2])[0].tolist()
    off = np.abs(points[:, 2] - z0 - points[:, :2] @ [rise, across]).max()
    size, mean = np.abs(points[:, 2]).max(), -float(points[:, 2].mean())
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    places = np.array([end.place[:2] for end in moorings.points.values()]).reshape(-1, 2)
    is_beyond = math.hypot(rise, across) > FLAT and ((places < low) | (places > high)).any()
    if off > FLAT * size or is_beyond:
        return Bathymetry(mean, mean, points=points)
    is_level = math.hypot(rise, across) * float(np.ptp(points[:, :2], axis=0).max()) <= FLAT * size
    return Bathymetry(mean, mean) if is_level else Bathymetry(-z0, mean, rise, across)


def grid(rows: list[FileRow], asked: FileRow) -> Floats:
    """(n, 3) places of all points."""
    if len(rows) < 4:
        raise asked.error(f"{rows[0].file if rows else asked.words[0]} holds no grid of depths", 0)
    if is_number(rows[0].words[0]):
        points = np.array([[row.number(at, name) for at, name in enumerate(("x", "y", "z"))] for row in rows[3:]])
        sizes = [row.count(place, "a number of points") for row, place in ((rows[0], 0), (rows[0], 1))]
    else:
        sizes = [rows[at].count(1, "a number of points") for at in (1, 2)]
        x, lines = numbers_in(rows[3], "x of a column"), [numbers_in(row, "a depth") for row in rows[4:]]
        for row, line in zip(rows[4:], lines, strict=True):
            if len(line) != len(x) + 1:
                raise row.error(f"expected y and {len(x)} depths, got {len(line)} numbers")
        points = np.array([(at, line[0], depth) for line in lines for at, depth in zip(x, line[1:], strict=True)])
    if len(points) != sizes[0] * sizes[1] or min(sizes) < 2:
        raise rows[0].error(f"expected {sizes[0]} x {sizes[1]} points, at least 2 x 2, got {len(points)}")
    signs = set(np.sign(points[:, 2][points[:, 2] != 0.0]).tolist())
    if len(signs) > 1:
        raise rows[0].error("some points have depths of the other sign")
    points[:, 2] = -np.abs(points[:, 2])
    return points
