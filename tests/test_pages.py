"""Pages of the documentation and the README: commands and Python blocks work as written, print what a page says they
print, and make the pictures it shows; links lead somewhere. Cells of notebooks are run when `.ci/run`
builds the site.
"""

from __future__ import annotations

import re
import shutil

import pytest

from docs.lines import DOCS, PICTURES, commands_of
from fem.cli import main
from fem.study.validation import choose, find_root

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
PAGES = ["../README", *(path.relative_to(DOCS).with_suffix("").as_posix() for path in sorted(DOCS.rglob("*.md")))]
QUICK = {"tutorials/parameter_study"}
"""Pages whose commands take a fraction of a second."""
WITH_COMMANDS = [
    pytest.param(page, marks=() if page in QUICK else pytest.mark.long)
    for page in PAGES[1:]  # `.ci/run` types those of the README and of Start
    if commands_of(page) and page != "start"
]
FEWER = {"--frames": "3", "--time": "60"}
"""What commands of pages are run with where they ask for more: films of three pictures."""
PRINTED: dict[tuple[str, ...], str] = {}
"""What each command has printed: it is run once, on however many pages it stands."""


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def shortened(words: list[str]) -> list[str]:
    """The command with fewer pictures, a shorter time, two values for each parameter that is varied."""
    found = [FEWER.get(before, word) if word.isdigit() and int(word) > int(FEWER.get(before, word)) else word
             for before, word in zip(["", *words], words, strict=False)]  # fmt: skip
    if found[0] == "sections":
        found += ["--cycles", "20", "--points", "10"]
    if found[0] == "lyapunov":
        found += ["--every", "40"]
    if "--occurrences" in found:  # they name every value
        return found
    return [re.sub(r"^(\w+=.+:.+):\d+$", r"\1:2", word) for word in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a clone has that commands read; they find what those before them have left."""
    found = tmp_path_factory.mktemp("pages")
    shutil.copytree(DOCS.parent / "inputs", found / "inputs")
    return found


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_of_a_page(page, folder, monkeypatch, capsys):
    """In their order; the numbers of what they print stand in the page to three digits."""
    monkeypatch.chdir(folder)
    printed = ""
    for words in commands_of(page):
        words = shortened(words)
        if words[0] == "validate":
            words = [words[0], *(name for name in choose(words[1:], find_root()) if name == "sdnl100")]
        if tuple(words) not in PRINTED and words != ["validate"]:
            assert main(words) == 0, words
            PRINTED[tuple(words)] = " ".join(capsys.readouterr().out.split()) + " "
        printed += PRINTED.get(tuple(words), "")
    if page in PICTURES:
        check_printed(text_of(page), printed)
        for name, file in PICTURES[page].items():
            assert (folder / "results" / f"{file}.png").is_file()
            assert f"({page}_{name}.png)" in text_of(page) and (DOCS / f"{page}_{name}.png").stat().st_size < 100_000


def check_printed(text: str, printed: str) -> None:
    """Blocks without a language are what commands print."""
    blocks = [block for language, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL) if not language]
    for block in blocks:
        numbers = [float(found) for found in NUMBER.findall(" ".join(block.split()))]
        pattern = NUMBER.sub("(#)", " ".join(block.split()))
        said = re.search(re.escape(pattern).replace(r"\(\#\)", f"({NUMBER.pattern})"), printed)
        assert said, block
        assert [float(number) for number in said.groups()] == pytest.approx(numbers, rel=2e-3)


BLOCKS = [
    (page, text)
    for page in PAGES
    if page != "extending"  # test_docs.py
    for text in re.findall(r"^```python\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)
]


@pytest.mark.parametrize(
    ("page", "text"),
    [pytest.param(*block, id=block[0], marks=() if block[0] == "../README" else pytest.mark.long) for block in BLOCKS],
)
def test_python_of_a_page(page, text, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    exec(compile(text, page, "exec"), {})
    assert page != "../README" or "[9 5 6]" in capsys.readouterr().out


def test_page_names_no_other_pictures():
    """But those that a script of the same name draws."""
    drawn = {path.stem for path in DOCS.glob("*.py")}
    for page, pictures in PICTURES.items():
        assert set(re.findall(r"\((\w+)\.png\)", text_of(page))) - drawn == {f"{page}_{name}" for name in pictures}


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_files_and_headings(page):
    """Sphinx looks at those of the site; the README and the pages are read elsewhere, too."""
    for link in re.findall(r"\]\((?!https?://|#)([^)\s]+)\)", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)):
        path, _, heading = link.partition("#")
        target = (DOCS / f"{page}.md").parent / path
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)", target.read_text(encoding="utf-8"), re.MULTILINE) if heading else ()
        assert not heading or heading in {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}


def test_every_page_is_in_the_list_of_the_site():
    listed = "".join(re.findall(r"```\{toctree\}(.*?)```", text_of("index"), re.DOTALL)).split()
    assert set(PAGES) - {"../README", "index"} <= set(listed)
