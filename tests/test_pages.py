"""Pages with commands: they work as written, print what the page says they print, and make the pictures it shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from docs.lines import PICTURES, commands_of
from fem.cli import main

DOCS = Path(__file__).resolve().parents[1] / "docs"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def few_frames(words: list[str]) -> list[str]:
    """Films of three pictures."""
    return ["3" if before == "--frames" else word for before, word in zip(["", *words], words, strict=False)]


@pytest.mark.parametrize("page", PICTURES)
def test_commands_of_a_page(page, tmp_path, monkeypatch, capsys):
    """In their order; the numbers of what they print stand in the page to three digits."""
    shutil.copytree(DOCS.parent / "inputs", tmp_path / "inputs")
    monkeypatch.chdir(tmp_path)
    printed = ""
    for words in commands_of(page):
        assert main(few_frames(words)) == 0, words
        printed += " ".join(capsys.readouterr().out.split()) + " "
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = [block for language, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL) if not language]
    for block in blocks:
        numbers = [float(found) for found in NUMBER.findall(" ".join(block.split()))]
        pattern = NUMBER.sub("(#)", " ".join(block.split()))
        said = re.search(re.escape(pattern).replace(r"\(\#\)", f"({NUMBER.pattern})"), printed)
        assert said, block
        assert [float(number) for number in said.groups()] == pytest.approx(numbers, rel=2e-3)
    for name, file in PICTURES[page].items():
        assert (tmp_path / "results" / f"{file}.png").is_file()
        assert f"({page}_{name}.png)" in text and (DOCS / f"{page}_{name}.png").stat().st_size < 100_000


def test_page_names_no_other_pictures():
    for page, pictures in PICTURES.items():
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        assert set(re.findall(r"\((\w+)\.png\)", text)) == {f"{page}_{name}" for name in pictures}
