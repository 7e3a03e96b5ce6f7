"""``fem example``: the decks that come with the program, listed or copied."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fem.commands.files import write_new
from fem.errors import CommandError, proposal

if TYPE_CHECKING:
    from fem.arrays import Say  # which imports numpy

PACKAGE = Path(__file__).resolve().parents[1]


def shipped() -> Path:
    """The folder of ``inputs`` and ``validation``: that of the clone or, of an installed wheel, one in the package."""
    inside = PACKAGE / "shipped"
    return inside if inside.is_dir() else PACKAGE.parent


def example(
    names: Sequence[str] = (), output: Path | None = None, force: bool = False, say: Say = lambda text: None
) -> list[Path]:
    """Copy decks into a folder, or list them if no names are given. Returns the files written.

    names   of decks, with or without ending; ``all``: all
    output  folder; None: the current one
    force   write over a file that holds something else

    CommandError: there is no such deck, or a file of its name holds something else.
    """
    known = {path.stem: path for path in sorted((shipped() / "inputs").glob("*.inp"))}
    if not known:
        raise CommandError(f"no decks in {shipped() / 'inputs'}: the installation is incomplete")
    if not names:
        width = max(map(len, known))
        for name, path in known.items():
            lines = path.read_text(encoding="utf-8").splitlines()
            say(f"{name:<{width}}  {next((line.strip() for line in lines if not line.startswith('*')), '')}")
        say("fem example NAME ... copies decks into the current folder (all: every deck)")
    chosen = list(known) if "all" in names else [Path(name).stem for name in names]
    for name in chosen:
        if name not in known:
            raise CommandError(f"there is no example {name!r}; {proposal(name, known)}")
    folder = Path() if output is None else output
    written = []
    for name in chosen:
        for path in (known[name], *sorted(known[name].parent.glob(f"{name}*.csv"))):  # and its tables
            written.append(write_new(folder / path.name, path.read_bytes(), force))
            say(f"wrote {written[-1]}")
    return written


def copies(deck: Path) -> str:
    """Advice for a missing deck whose name is that of an example; otherwise empty."""
    if not (shipped() / "inputs" / f"{deck.stem}.inp").is_file():
        return ""
    folder = "" if deck.parent == Path() else f" --output {deck.parent}"
    return f"`fem example {deck.stem}{folder}` copies the example of that name"
