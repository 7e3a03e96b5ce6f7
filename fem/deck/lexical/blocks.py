"""Big blocks of plain numbers: read at once by numpy; None where a line needs the careful reader."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable

import numpy as np
import orjson

from fem.arrays import Floats, Ints
from fem.deck.lexical.card import Card, Piece
from fem.deck.lexical.fields import FRACTION, MAX_ENTRIES, MAX_LABEL


def labelled_numbers(card: Card, columns: tuple[int, ...]) -> tuple[Ints, Floats] | None:
    """Rows ``label, number, number...``: labels (n,) and numbers (n, k); ``columns`` the allowed row lengths."""
    texts = plain_lines(card)
    count = texts[0].count(",") if texts else 0
    if count + 1 not in columns:
        return None
    table = load(texts, np.dtype([("label", np.int64), ("values", np.float64, (count,))]))
    if table is None or len(table) != len(texts) or BEHIND_COMMA.search("\n".join(texts)):
        return None
    labels, values = table["label"], table["values"].reshape(len(table), count)
    if not np.isfinite(values).all() or not fits(labels):
        return None
    return np.ascontiguousarray(labels), np.ascontiguousarray(values)


def integers(card: Card, count: int) -> Ints | None:
    """Rows of ``count`` positive integers: (n, count)."""
    texts = plain_lines(card)
    table = load(texts, np.dtype(np.int64)) if texts else None
    return table if table is not None and table.shape == (len(texts), count) and fits(table) else None


BEHIND_COMMA = re.compile(rf",{FRACTION.pattern}\s*(?:,|$)", re.ASCII | re.MULTILINE)
"""Numbers that may have a decimal comma."""
LISTED = re.compile(r"[0-9,\s]*")


def listed_integers(card: Card) -> Ints | None:
    """All entries of rows of different lengths, each a positive integer: (n,)."""
    texts = plain_lines(card)
    if not texts or max(text.count(",") for text in texts) >= MAX_ENTRIES:
        return None
    joined = ",".join(text.rstrip().removesuffix(",") for text in texts)
    if LISTED.fullmatch(joined) is None:
        return None
    try:
        labels = np.array([int(entry) for entry in joined.split(",")], dtype=np.int64)
    except (ValueError, OverflowError):
        return None
    return labels if fits(labels) else None


LINES_AT_ONCE = 50_000
LOOSE = ("\n\n", "\n ", "\n\t", " \n", "\t\n")
AROUND_LINES = re.compile(r"[ \t]*\n[ \t\n]*")
BLANKS = re.compile(r"[ \t]+")
IN_NUMBERS = np.isin(np.arange(256), list(b"0123456789+-.eEdD, \t\n"))


def plain_numbers(pieces: Iterable[Piece]) -> Floats | None:
    """All entries of data lines: (n,)."""
    return numbers_at_once(pieces, lambda text: numbers_in(text, ",", None))


def plain_columns(
    pieces: Iterable[Piece], separator: str | None, width: int, columns: tuple[int, ...]
) -> Floats | None:
    """Some columns of lines that have ``width`` entries each: (n, k)."""

    def read(text: str) -> Floats | None:
        numbers = numbers_in(text, separator, width)
        return None if numbers is None else numbers.reshape(-1, width)[:, columns]

    return numbers_at_once(pieces, read)


def numbers_at_once(pieces: Iterable[Piece], read: Callable[[str], Floats | None]) -> Floats | None:
    """What is read of some lines after the other."""
    found = []
    for source, start, stop in pieces:
        for first in range(start - 1, stop - 1, LINES_AT_ONCE):
            numbers = read(source.lines.between(first, min(first + LINES_AT_ONCE, stop - 1)))
            if numbers is None:
                return None
            found.append(numbers)
    return np.concatenate(found) if found else None


def numbers_in(text: str, separator: str | None, width: int | None) -> Floats | None:
    """Those of some lines."""
    text = f"{text}\n"
    if any(pair in text for pair in LOOSE):
        text = AROUND_LINES.sub("\n", text)
    text = (text.replace(f"{separator}\n", "\n") if separator else text).strip()
    if not text:
        return np.empty(0)
    if separator != ",":
        if "," in text:
            return None
        text = text.replace(separator, ",") if separator else BLANKS.sub(",", text)
    elif BEHIND_COMMA.search(text):
        return None
    codes = np.frombuffer(text.encode(errors="replace"), np.uint8)
    if not IN_NUMBERS[codes].all():
        return None
    ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    counts = np.diff(np.searchsorted(np.flatnonzero(codes == ord(",")), ends), prepend=0) + 1
    if (counts != width).any() if width else counts.max() > MAX_ENTRIES:
        return None
    numbers = listed(text.replace("\n", ","))
    return numbers if numbers is not None and len(numbers) == counts.sum() else None


def listed(text: str) -> Floats | None:
    """Numbers between commas, as JSON writes them; or as other programs do, three times slower."""
    try:
        numbers = np.array(orjson.loads(f"[{text}]"), np.float64)
    except (ValueError, TypeError, OverflowError):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                numbers = np.fromstring(text.upper().replace("D", "E"), sep=" , ")
        except (ValueError, Warning):
            return None
    return numbers if numbers.ndim == 1 and np.isfinite(numbers).all() else None


def plain_lines(card: Card) -> list[str]:
    """The data lines, one trailing comma each removed."""
    texts = card.texts()
    if texts and texts[0].rstrip().endswith(","):
        return [text.rstrip().removesuffix(",") for text in texts]
    return texts


def fits(labels: Ints) -> bool:
    """All are valid labels."""
    return bool(labels.min() > 0 and labels.max() <= MAX_LABEL)


def load(texts: list[str], kind: np.dtype[np.void] | np.dtype[np.int64]) -> np.ndarray | None:
    """numpy's own text reader; None if it stumbles."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.loadtxt(texts, dtype=kind, delimiter=",", comments=None, ndmin=1 if kind.names else 2)
        except (ValueError, TypeError, OverflowError, Warning):
            return None
