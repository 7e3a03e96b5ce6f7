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
    page = PAGE.replace("TITLE", html.escape(film.title)).replace("FPS", f"{fps:g}").replace("MARK", mark)
    path.write_text(page.replace("FRAMES", json.dumps(frames)), encoding="utf-8")


WRITERS: dict[str, Callable[[Any, Path, float, str, Progress], None]] = {
    ".gif": write_gif,
    ".mp4": write_mp4,
    ".html": write_html,
}

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="generator" content="MARK">
<title>TITLE</title>
<style>
body { font: 15px sans-serif; margin: 1em auto; max-width: 60em; text-align: center; background: #fff; color: #222 }
img { max-width: 100%; max-height: 85vh }
form { display: flex; gap: .8em; align-items: center }
input { flex: 1 }
button { min-width: 5em; font: inherit }
</style>
<img id="picture" alt="TITLE">
<form onsubmit="return false">
<button id="play" type="button" title="space">Pause</button>
<input id="place" type="range" min="0" value="0" aria-label="frame" title="arrow keys step">
<output id="count"></output>
<label>speed <select id="speed">
<option value="0.1">1/10</option><option value="0.25">1/4</option><option value="0.5">1/2</option>
<option value="1" selected>1</option><option value="2">2</option><option value="4">4</option>
</select></label>
</form>
<script>
const frames = FRAMES, fps = FPS;
const [picture, play, place, count, speed] =
  ["picture", "play", "place", "count", "speed"].map(name => document.getElementById(name));
let at = 0, last = null, runs = true;
place.max = frames.length - 1;
function show() {
  const k = Math.floor(at);
  picture.src = "data:image/png;base64," + frames[k];
  place.value = k;
  count.textContent = (k + 1) + " / " + frames.length;
}
function run(on) { runs = on; last = null; play.textContent = on ? "Pause" : "Play"; }
function tick(now) {
  if (runs && last !== null) {
    const before = Math.floor(at);
    at = (at + (now - last) / 1000 * fps * speed.value) % frames.length;
    if (Math.floor(at) !== before) show();
  }
  last = now;
  requestAnimationFrame(tick);
}
play.onclick = () => run(!runs);
place.oninput = () => { run(false); at = Number(place.value); show(); };
document.onkeydown = event => {
  if (event.key === " " && event.target !== play) { run(!runs); event.preventDefault(); }
};
show();
requestAnimationFrame(tick);
</script>
</html>
"""
