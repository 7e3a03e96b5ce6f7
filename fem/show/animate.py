"""``fem animate``: the motion of a run as a film, bars coloured by their force T.

GIF by Pillow, MP4 by ffmpeg, and HTML: a page with a built-in player that needs no other files.
"""

from __future__ import annotations

import base64
import html
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection
from numpy.typing import NDArray
from PIL import Image

from fem.arrays import Floats, Ints, Say
from fem.commands.files import beside, is_marked
from fem.errors import CommandError
from fem.runs.own import FILM, check_file
from fem.runs.progress import ProgressBar
from fem.runs.read import Missing, Results, open_results
from fem.show import reading
from fem.show.scenery import draw_scenery, upright, with_scenery
from fem.show.style import AXES, LABEL, SMALL, TITLE, shortened

DPI = 100
WIDEST, LEAST, LOWEST, HIGHEST = 8.0, 5.5, 4.0, 7.0
BESIDE, ABOVE = 2.2, 1.5
"""Inches beside and above the motion, added to the width and height of a picture."""
TRAILS = ("#009E73", "#CC79A7", "#E69F00", "#000000")
MOST_FRAMES = 10_000
MARKED = 40
"""Largest number of nodes that are drawn with a marker each."""
NO_COLOURS = "without colours: the results do not contain T of all bars (*EL FILE or *EL PRINT of T)"


def animate(
    folder: str | Path,
    output: str | Path | None = None,
    *,
    fps: float = 30.0,
    trail: int = 30,
    frames: int = 300,
    nodes: Sequence[int] = (),
    start: float = -np.inf,
    end: float = np.inf,
    speed: float | None = None,
    scale: float = 1.0,
    force: bool = False,
    say: Say | None = None,
) -> Path:
    """Draw the motion of a run as a film, from its files. Returns the file written.

    folder  results folder of a run (``fem.run(deck, output=folder)``)
    output  file ending in .gif, .mp4 or .html; None: ``motion.gif`` in the folder
    fps     frames per second;  frames: at most so many instants are drawn, evenly spaced in time
    start, end  first and last total time of the film
    speed   time of the motion per second of the film (1: real time), instead of ``frames``
    scale   factor on displacements
    trail   frames of the trail behind a node, 0: none; nodes: labels of nodes with a trail, none: free ends
    force   overwrite a file that the program did not write
    say     function that receives messages; a terminal then also shows a progress bar

    Raises
    ------
    CommandError  there are no results, no fields or no such node, or the film cannot be written or would replace
                  a file that the program did not write.

    >>> _ = fem.run("inputs/sdnl100.inp", output="results/filmed")
    >>> animate("results/filmed", frames=3).name
    'motion.gif'
    """
    results = open_results(Path(folder))
    path = Path(output or Path(folder) / f"{FILM}.gif")
    check_film(path, fps)
    check_file(path, (), force, is_marked(path, results.mark))
    try:
        scene = Scene(results, trail, frames, nodes, Window(start, end, speed and speed / fps), scale)
    except Missing as missing:
        raise CommandError(f"no animation: {missing}") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    bar = ProgressBar(sys.stdout, len(scene)) if say and sys.stdout.isatty() else None

    def tell(done: int) -> None:
        if bar is not None:
            bar.move(done, f"frame {done}/{len(scene)}")

    try:
        write_film(scene, path, fps, results.mark, tell)
    finally:
        if bar is not None:
            bar.close()
    if say:
        magnified = reading.NOTE.format(scale) if scale != 1.0 else ""
        for note in filter(None, (results.remark, "" if scene.has_colours else NO_COLOURS, magnified)):
            say(f"note: {note}")
        shown = f"time {scene.time[0]:.6g} to {scene.time[-1]:.6g}"
        say(f"{path} ({len(scene)} frames in {len(scene) / fps:.3g} s, {shown})")
    return path


def even_times(boundaries: Floats, most: int) -> reading.Pick:
    """At most ``most`` instants, evenly spaced in the time of each step, so that automatic increments do not change the
    speed."""

    def pick(time: Floats) -> Ints:
        edges = np.searchsorted(time, boundaries, side="right")
        chosen = []
        for first, last in zip([0, *edges], [*edges, len(time)], strict=True):
            if last > first:
                count = last - first if len(time) <= most else max(2, round(most * (last - first) / len(time)))
                wanted = np.linspace(time[first], time[last - 1], min(count, last - first))
                after = np.searchsorted(time[first:last], wanted).clip(1, max(1, last - first - 1)) + first
                before = np.maximum(after - 1, first)
                after = np.minimum(after, last - 1)
                chosen.append(np.where(wanted - time[before] < time[after] - wanted, before, after))
        return np.concatenate(chosen).astype(np.int64)

    return pick


@dataclass(frozen=True, slots=True)
class Window:
    """What a film shows: total times from ``start`` to ``end``; ``step``: time between frames, None: as it comes."""

    start: float = -np.inf
    end: float = np.inf
    step: float | None = None

    def pick(self, boundaries: Floats, most: int) -> reading.Pick:
        """``even_times`` among the times of the window. Missing: there are none."""

        def pick(time: Floats) -> Ints:
            (inside,) = np.nonzero((time >= self.start) & (time <= self.end))
            if not len(inside):
                raise Missing(f"there are no results in that window: they range from {time[0]:g} to {time[-1]:g}")
            count = most if self.step is None else len(self.frames(time[inside]))
            return inside[even_times(boundaries, count)(time[inside])]

        return pick

    def frames(self, time: Floats) -> Floats:
        """Times of the frames, evenly spaced, whatever the lengths of increments. CommandError: too many."""
        if self.step is None:
            return np.linspace(time[0], time[-1], len(time))
        count = (time[-1] - time[0]) / self.step
        if count >= MOST_FRAMES:
            raise CommandError(f"{count:.3g} frames, at most {MOST_FRAMES}: raise --speed or narrow --from --to")
        return np.asarray(time[0] + self.step * np.arange(int(count) + 1))


class Scene:
    """A drawn figure whose moving parts are drawn anew for each frame."""

    def __init__(
        self, results: Results, trail: int, frames: int, nodes: Sequence[int], window: Window, scale: float = 1.0
    ) -> None:
        mesh = results.mesh
        self.title = reading.magnified_title(results.heading, scale)
        self._results = results
        motion = reading.whole_motion(results, window.pick(results.boundaries, frames))
        self.time = motion.time
        self._frames = window.frames(motion.time)
        self._shown = np.searchsorted(0.5 * (motion.time[1:] + motion.time[:-1]), self._frames)
        self._x = mesh.coordinates + scale * motion.values["U"]
        self._axes = reading.plane_of(results)
        lines = mesh.ends[:, 0] != mesh.ends[:, 1]
        self._bars, self._broken = reading.bars_of(mesh)[0], reading.break_times(results)
        self._others = mesh.ends[~mesh.is_bar & lines]
        self._tension = motion.tension
        if motion.tension is not None and not np.isfinite(motion.tension).any():
            self._tension = None
        self._trail = trail
        self._traced = self._chosen(nodes) if trail else []
        self._build()

    @property
    def has_colours(self) -> bool:
        return self._tension is not None or not len(self._bars)

    def __len__(self) -> int:
        return len(self._frames)

    def draw(self, frame: int) -> Picture:
        """A frame as (height, width, 3) bytes."""
        moment, place = self._frames[frame], int(self._shown[frame])
        self._canvas.restore_region(self._still)
        now = self._at(moment)
        x = now[:, self._axes]
        is_whole = self._broken > moment
        self._bar_lines.set_segments(np.where(is_whole[:, None, None], x[self._bars], np.nan))
        if self._tension is not None:
            self._bar_lines.set_array(self._tension[place])
            self._bar_lines.set_linewidths(np.where(np.abs(self._tension[place]) <= self._slack, 1.0, 2.6))
        self._other_lines.set_segments(x[self._others])
        self._place(self._dots, x)
        for node, line in zip(self._traced, self._trails, strict=True):
            before = self._x[np.unique(self._shown[max(0, frame - self._trail) : frame]), node]
            self._place(line, np.vstack([before, now[node]])[:, self._axes])
        unit = f" {self._results.clock[1]}".rstrip()
        self._stamp.set_text(f"t = {moment:.{self._digits}f}{unit}")
        if self._is_space:
            self._bar_lines.do_3d_projection()
            self._other_lines.do_3d_projection()
        for artist in (*self._trails, self._other_lines, self._bar_lines, self._dots, self._stamp):
            self._panel.draw_artist(artist)
        return np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy()

    def _at(self, moment: float) -> Floats:
        """(n, 3) positions of the nodes at a time, interpolated between instants."""
        after = int(np.searchsorted(self.time, moment).clip(1, max(1, len(self.time) - 1)))
        if after >= len(self.time) or self.time[after] <= self.time[after - 1]:
            return np.asarray(self._x[min(after, len(self._x) - 1)])
        fraction = (moment - self.time[after - 1]) / (self.time[after] - self.time[after - 1])
        return np.asarray(self._x[after - 1] + fraction * (self._x[after] - self._x[after - 1]))

    def _chosen(self, labels: Sequence[int]) -> list[int]:
        """Nodes with a trail: those named, else free ends of bars, else the one with the largest displacement."""
        mesh = self._results.mesh
        known = {int(label): node for node, label in enumerate(mesh.node_labels)}
        lost = [label for label in labels if label not in known]
        if lost:
            raise CommandError(f"there is no node {', '.join(map(str, lost))}")
        if labels:
            return [known[label] for label in labels]
        if free := reading.free_ends(self._results):
            return free
        farthest = np.abs(self._x - self._x[0]).max(axis=(0, 2))
        return [int(np.argmax(farthest))] if farthest.any() else []

    def _build(self) -> None:
        """Everything that does not move, drawn once; then the parts that do."""
        self._is_space = len(self._axes) == 3
        low, high = (edge(self._x, axis=(0, 1))[list(self._axes)] for edge in (np.min, np.max))
        low, high = with_scenery(self._results, self._axes, low, high)
        extent = high - low
        least = 0.3 * extent.max() if not self._is_space else 0.15 * extent.max()
        middle, half = 0.5 * (low + high), 0.5 * np.maximum(extent, least or 1.0) * 1.08
        ratio = half[1] / half[0] if not self._is_space else 0.8
        height = min(max((WIDEST - BESIDE) * ratio + ABOVE, LOWEST), HIGHEST)
        width = min(max((height - ABOVE) / ratio + BESIDE, LEAST), WIDEST)
        # Even numbers of pixels, which 4:2:0 requires.
        width, height = (round(inches * DPI / 2) * 2 / DPI for inches in (width, height))
        figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
        self._canvas = cast(Any, FigureCanvasAgg(figure))
        figure.suptitle(shortened(self.title, int(10 * width)), fontsize=TITLE, parse_math=False)
        projection: dict[str, Any] = {"projection": "3d"} if self._is_space else {"aspect": "equal"}
        self._panel: Any = figure.add_subplot(**projection)
        limits = dict(zip(("xlim", "ylim", "zlim"), zip(middle - half, middle + half, strict=True), strict=False))
        self._panel.set(**limits)
        draw_scenery(self._results, self._panel, self._axes, middle - half, middle + half)
        self._label_axes(half)
        self._add_moving_parts()
        if self._tension is not None:
            bar = figure.colorbar(self._scale, ax=self._panel, shrink=0.8, pad=0.02 if not self._is_space else 0.08)
            text = f"T [{self._results.unit('force')}]"
            text += ", compression < 0" if np.nanmin(self._tension) < -self._slack else ""
            text += ", thin line: slack" if np.any(np.abs(self._tension) <= self._slack) else ""
            bar.set_label(text, fontsize=LABEL)
            bar.ax.tick_params(labelsize=SMALL)
            bar.outline.set_visible(False)
        held = reading.overview(self._results).at_rest
        held = held & np.isin(np.arange(len(held)), [*self._bars.ravel(), *self._others.ravel()])
        x = self._x[0][held][:, self._axes]
        mark, size = ("^", 8.0) if len(x) <= 4 else ("s", 4.0)
        self._panel.plot(*x.T, mark, color="#000000", ms=size, zorder=5)
        self._canvas.draw()
        figure.set_layout_engine("none")
        self._still = self._canvas.copy_from_bbox(figure.bbox)

    def _label_axes(self, half: Floats) -> None:
        unit = f" [{self._results.unit('length')}]" if self._results.is_si else ""
        for letter, axis in zip("xyz", self._axes, strict=False):
            getattr(self._panel, f"set_{letter}label")(f"{AXES[axis]}{unit}", fontsize=LABEL)
        self._panel.tick_params(labelsize=SMALL)
        if self._is_space:
            self._panel.view_init(elev=22.0, azim=-58.0, vertical_axis=AXES[upright(self._results)])
            self._panel.set_box_aspect(half / half.max())
            self._panel.locator_params(nbins=5)
            self._stamp = self._panel.text2D(0.0, 1.0, "", transform=self._panel.transAxes, fontsize=TITLE)
        else:
            self._panel.grid(True, color="#e2e2e2", lw=0.6)
            self._panel.set_axisbelow(True)
            self._panel.spines[["top", "right"]].set_visible(False)
            self._stamp = self._panel.text(0.0, 1.02, "", transform=self._panel.transAxes, fontsize=TITLE)
        self._stamp.set_animated(True)
        self._panel.set_title(" ", loc="left", fontsize=TITLE)  # reserves space for the time
        step = float(np.diff(self.time)[np.diff(self.time) > 0.0].min(initial=np.inf))
        self._digits = min(9, max(0, int(np.ceil(-np.log10(step))) + 1)) if np.isfinite(step) else 3

    def _add_moving_parts(self) -> None:
        x = self._x[0][:, self._axes]
        lines: Any = Line3DCollection if self._is_space else LineCollection
        look: dict[str, Any] = {"linewidths": 2.6, "colors": "#222222"}
        if self._tension is not None:
            self._scale, self._slack = reading.tension_scale(self._tension)
            look = {"linewidths": 2.6, "cmap": self._scale.cmap, "norm": self._scale.norm}
        self._bar_lines = lines(x[self._bars], capstyle="round", animated=True, **look)
        self._other_lines = lines(x[self._others], colors="#888888", linewidths=1.2, linestyles="dashed", animated=True)
        for collection in (self._other_lines, self._bar_lines):
            self._panel.add_collection(collection, **({} if self._is_space else {"autolim": False}))
        none: list[list[float]] = [[]] * len(self._axes)
        size = 4.0 if len(x) <= MARKED else 0.0
        (self._dots,) = self._panel.plot(*none, "o", color="#222222", ms=size, animated=True)
        self._trails = [
            self._panel.plot(*none, color=TRAILS[k % len(TRAILS)], lw=1.1, animated=True)[0]
            for k in range(len(self._traced))
        ]

    def _place(self, line: Any, x: Floats) -> None:
        if self._is_space:
            line.set_data_3d(*x.T)
        else:
            line.set_data(*x.T)


PAGE = Path(__file__).with_name("player.html")
Picture: TypeAlias = NDArray[np.uint8]
FASTEST_GIF = 50
"""Frames per second: browsers slow down a GIF with more."""
NO_FFMPEG = (
    "MP4 needs the program ffmpeg, which is not installed: install it (apt install ffmpeg, brew install ffmpeg, winget "
    "install ffmpeg; or pip install imageio-ffmpeg), or write .gif or .html"
)


Progress: TypeAlias = Callable[[int], None]


def write_film(film: Scene, path: Path, fps: float, mark: str, progress: Progress) -> None:
    """Draw and write, with a mark in the file; the ending of ``path`` is the format. The file is whole or not there.
    CommandError: unknown ending, no ffmpeg, more frames per second than a GIF can show."""
    with beside(path) as part:
        WRITERS[path.suffix.lower()](film, part, fps, mark, progress)


def check_film(path: Path, fps: float) -> None:
    """Checks the name and the speed of a film before anything is drawn."""
    if path.suffix.lower() not in WRITERS:
        raise CommandError(f"{path}: the name of a film must end in {', '.join(WRITERS)}")
    if path.suffix.lower() == ".mp4":
        find_ffmpeg()
    if path.suffix.lower() == ".gif" and fps > FASTEST_GIF:
        raise CommandError(f"a GIF shows at most {FASTEST_GIF} frames per second, not {fps:g}: write .mp4 or .html")


def pictures(film: Scene, progress: Progress) -> Iterator[Picture]:
    for place in range(len(film)):
        yield film.draw(place)
        progress(place + 1)


def with_palette(film: Scene, progress: Progress) -> Iterator[Image.Image]:
    """All frames in 256 colours, the same ones throughout: from the first, a middle and the last frame."""
    samples = [film.draw(place) for place in (0, len(film) // 2, len(film) - 1)]
    palette = Image.fromarray(np.vstack(samples)).quantize(256, Image.Quantize.MAXCOVERAGE)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    # The background is pure white, not the mean of similar colours.
    colours[colours.min(axis=1) >= 248] = 255
    palette.putpalette(colours.ravel().tolist())
    for picture in pictures(film, progress):
        yield Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)


def write_gif(film: Scene, path: Path, fps: float, mark: str, progress: Progress) -> None:
    """A GIF counts in hundredths of a second."""
    images = with_palette(film, progress)
    pause = 10 * round(100.0 / fps)
    kind: dict[str, Any] = {"format": "GIF", "optimize": False, "disposal": 1, "comment": mark.encode()}
    next(images).save(path, save_all=True, append_images=images, duration=pause, loop=0, **kind)


def write_mp4(film: Scene, path: Path, fps: float, mark: str, progress: Progress) -> None:
    """H.264 in 4:2:0, what every player understands."""
    first = film.draw(0)
    command = [find_ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgb24"]
    command += ["-video_size", f"{first.shape[1]}x{first.shape[0]}", "-framerate", f"{fps:g}", "-i", "-"]
    command += ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"]
    command += ["-metadata", f"comment={mark}", "-f", "mp4", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        try:
            for picture in pictures(film, progress):
                process.stdin.write(picture.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass
        complaint = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise CommandError(f"ffmpeg failed: {complaint or process.returncode}")


def find_ffmpeg() -> str:
    """The program on the path, or that of the package imageio-ffmpeg. CommandError: neither is there."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise CommandError(NO_FFMPEG) from None


def write_html(film: Scene, path: Path, fps: float, mark: str, progress: Progress) -> None:
    frames = []
    for image in with_palette(film, progress):
        file = io.BytesIO()
        image.save(file, "PNG")
        frames.append(base64.b64encode(file.getvalue()).decode())
    page = PAGE.read_text(encoding="utf-8").replace("TITLE", html.escape(film.title))
    page = page.replace("FPS", f"{fps:g}").replace("MARK", mark).replace("FRAMES", json.dumps(frames))
    path.write_text(page, encoding="utf-8")


WRITERS: dict[str, Callable[[Any, Path, float, str, Progress], None]] = {
    ".gif": write_gif,
    ".mp4": write_mp4,
    ".html": write_html,
}
