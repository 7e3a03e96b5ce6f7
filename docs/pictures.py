"""The film of the README and of the first page of the site: five links, made by the program."""

from __future__ import annotations

import tempfile
from pathlib import Path

import fem

FILM = Path(__file__).with_name("film.gif")


def main() -> None:
    """Write ``docs/film.gif``: 3.2 s, as long as it takes."""
    with tempfile.TemporaryDirectory() as folder:
        deck = fem.pendulum(5, angles=30, time=3.2, output=Path(folder) / "five.inp")
        fem.run(deck, output=f"{folder}/five")
        fem.animate(f"{folder}/five", FILM, fps=20, frames=64, force=True)


if __name__ == "__main__":
    main()
