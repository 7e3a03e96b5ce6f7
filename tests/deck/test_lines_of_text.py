"""The lines of a file, kept as one text: what a list of strings would answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fem.deck.source import TextLines

TEXTS = st.text(alphabet="a*\n é漢\U0001f600", max_size=40)


@given(text=TEXTS, start=st.integers(-9, 9), stop=st.integers(-9, 9))
def test_lines_of_a_text(text: str, start: int, stop: int) -> None:
    lines, plain = TextLines(text), text.split("\n")
    assert list(lines) == [lines[at] for at in range(len(lines))] == plain
    assert lines[start:stop] == plain[start:stop]
    assert lines[::2] == plain[::2]
    assert lines.numbers_with("*") == [number for number, line in enumerate(plain, 1) if "*" in line]
