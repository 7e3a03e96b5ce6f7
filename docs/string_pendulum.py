"""The figures of ``docs/string_pendulum.md`` and ``docs/further_work.md``: those of the validation cases, small.

Of all these cases, or of those named; goes on where it was broken off.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fem.study.validation import load_case

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = Path("results") / "string_pendulum_pictures"
CASES = ("string_pendulum", "string_pendulum_exponents", "string_pendulum_rope", "further_work")
COLOURS = 128
"""Of a picture: enough for lines, and half the bytes."""


def main() -> None:
    """Write ``docs/string_pendulum_<figure>.png`` and ``docs/further_work_<figure>.png``."""
    from PIL import Image

    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or CASES:
        case = load_case(name, ROOT / "validation" / "cases" / f"{name}.py")
        for figure, sheet in case.run(OUTPUT).figures.items():
            path = ROOT / "docs" / f"{name.removesuffix('_exponents')}_{figure}.png"
            sheet.savefig(path, dpi=90, bbox_inches="tight")
            with Image.open(path) as picture:
                picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main()
