"""The figures of the pages in ``PICTURES``, from the commands of these pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PICTURES = {
    "ropes_at_work": {
        "crane": "crane/angles",
        "zip_line": "zip_line/shapes",
        "lift": "lift_stop/tension",
        "fall": "climbing_fall/tension",
    },
    "mooring_line": {
        "tension": "storm/tension",
        "range": "storm/range_T_LINE",
        "touchdown": "storm/touchdown",
        "shapes": "storm/shapes",
    },
    "moorings": {"offsets": "spread_mooring/mooring"},
    "mooring_questions": {"motion": "moved/tension"},
    "conductor_span": {"wind": "span/tension", "break": "broken_wire/tension", "shapes": "broken_wire/shapes"},
    "sea_states": {"extremes": "sea_state_sweep/extremes", "cases": "sea_state_cases/extremes"},
    "fit": {"residuals": "circled_weight_fit/fit"},
    "splash_zone": {"tension": "splash_zone/tension", "extremes": "splash_zone_sweep/extremes"},
    "vessel": {"tension": "moored_vessel/tension"},
    "line_section": {"tension": "line_section/tension", "galloping": "galloping/displacements"},
    "iced_span": {
        "jump": "iced_span/displacements",
        "tension": "iced_span/tension",
        "range": "iced_span/range_T_WIRE",
    },
}
"""Page -> its pictures, and which files of ``results`` they are."""
COLOURS, WIDTH = 16, 800
"""Of a picture: enough for lines, and a fifth of the bytes."""


def commands_of(page: str) -> list[list[str]]:
    """The words behind ``python -m fem`` in the blocks of a page, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)
    return [words.split() for words in re.findall(r"\bpython -m fem ([^&\n]+)", "".join(blocks))]


def main() -> None:
    """Write ``docs/<page>_<picture>.png``."""
    from PIL import Image

    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
    for page, pictures in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "inputs").symlink_to(DOCS.parent / "inputs")
            for words in commands_of(page):
                subprocess.run([sys.executable, "-m", "fem", *words], cwd=folder, env=environment, check=True)
            for name, file in pictures.items():
                with Image.open(Path(folder) / "results" / f"{file}.png") as picture:
                    small = picture.convert("RGB").resize((WIDTH, round(WIDTH * picture.height / picture.width)))
                    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                    few.save(DOCS / f"{page}_{name}.png", optimize=True)


if __name__ == "__main__":
    main()
