"""Lines of numbers in the files beside an input file of MoorDyn."""

from __future__ import annotations

from pathlib import Path

from fem.errors import CommandError
from fem.moordyn.read import Row


def rows_of(path: Path, what: str, heads: int = 0) -> list[Row]:
    """The lines that hold something, without the first ``heads`` of the file. CommandError: it is not there.

    what  that takes the file, for the message
    """
    if not path.is_file():
        raise CommandError(f"{what} from {path}, which is not there")
    lines = enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
    rows = [Row(str(path), number, text, tuple(text.partition("#")[0].split())) for number, text in lines]
    return [row for row in rows[heads:] if row.words]


def numbers_in(row: Row, what: str) -> list[float]:
    """All words of a line; commas may stand between them. DeckError: one is no number."""
    plain = Row(row.file, row.line, row.text.replace(",", " "), tuple(" ".join(row.words).replace(",", " ").split()))
    return [plain.number(place, what) for place in range(len(plain.words))]


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
