"""Writes films: GIF (Pillow), MP4 (ffmpeg), and HTML, a page with its own player that needs nothing else."""

from __future__ import annotations

import base64
import html
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fem.errors import CommandError
from fem.files.whole import PART

PAGE = Path(__file__).with_name("player.html")
Picture: TypeAlias = NDArray[np.uint8]
FASTEST_GIF = 50
"""Frames per second: browsers slow down a GIF that asks for more."""
NO_FFMPEG = (
    "MP4 needs the program ffmpeg, and it is not on this computer: install it (apt install ffmpeg, "
    "brew install ffmpeg, winget install ffmpeg; or pip install imageio-ffmpeg), or write .gif or .html"
)


class Film(Protocol):
    """Frames to be drawn one after the other."""

    title: str

    def __len__(self) -> int: ...
    def draw(self, place: int) -> Picture:
        """(height, width, 3), even sizes."""
        ...


Progress: TypeAlias = Callable[[int], None]


def write_film(film: Film, path: Path, fps: float, mark: str, progress: Progress) -> None:
    """Draw and write, with a mark in the file; the ending of ``path`` is the format. The file is whole or not there.

    CommandError: unknown ending, no ffmpeg, more frames per second than a GIF can show.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        beside.unlink(missing_ok=True)
        WRITERS[path.suffix.lower()](film, beside, fps, mark, progress)
        beside.replace(path)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        beside.unlink(missing_ok=True)


def check_film(path: Path, fps: float) -> None:
    """Say what is wrong with the name or the speed of a film before anything is drawn."""
    if path.suffix.lower() not in WRITERS:
        raise CommandError(f"{path}: a film ends in {', '.join(WRITERS)}")
    if path.suffix.lower() == ".mp4":
        find_ffmpeg()
    if path.suffix.lower() == ".gif" and fps > FASTEST_GIF:
        raise CommandError(f"a GIF shows at most {FASTEST_GIF} frames per second, not {fps:g}: write .mp4 or .html")


def pictures(film: Film, progress: Progress) -> Iterator[Picture]:
    """All frames, counted."""
    for place in range(len(film)):
        yield film.draw(place)
        progress(place + 1)


def with_palette(film: Film, progress: Progress) -> Iterator[Image.Image]:
    """All frames in 256 colours, the same ones throughout: from the first, a middle and the last frame."""
    samples = [film.draw(place) for place in (0, len(film) // 2, len(film) - 1)]
    palette = Image.fromarray(np.vstack(samples)).quantize(256, Image.Quantize.MAXCOVERAGE)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    # The paper is pure white, not the mean of what is near it.
    colours[colours.min(axis=1) >= 248] = 255
    palette.putpalette(colours.ravel().tolist())
    for picture in pictures(film, progress):
        yield Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)


def write_gif(film: Film, path: Path, fps: float, mark: str, progress: Progress) -> None:
    """A GIF counts in hundredths of a second."""
    images = with_palette(film, progress)
    pause = 10 * round(100.0 / fps)
    kind: dict[str, Any] = {"format": "GIF", "optimize": False, "disposal": 1, "comment": mark.encode()}
    next(images).save(path, save_all=True, append_images=images, duration=pause, loop=0, **kind)


def write_mp4(film: Film, path: Path, fps: float, mark: str, progress: Progress) -> None:
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


def write_html(film: Film, path: Path, fps: float, mark: str, progress: Progress) -> None:
    """One page with all frames in it as PNG."""
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
