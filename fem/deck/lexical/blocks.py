"""Big blocks of plain numbers: read at once by numpy; None where a line needs the careful reader."""

from __future__ import annotations

import re
import warnings

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.lexical.card import Card
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
