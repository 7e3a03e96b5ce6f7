"""What docs/extending.md says of the code holds: paths, names, links, quoted lines, the rooms; its example runs."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from fem.compiled.interpreted import rehearsal
from fem.deck import KEYWORDS
from fem.deck.reader import FOREIGN
from tests.forces.families.magnet import PULL, WALL
from tests.test_architecture import ROOMS
from tests.trees import parsed

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "extending.md"
TEXT = PAGE.read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
LINKS = re.findall(r"\[([^\]]+)\]\(([^)]+)\)", PROSE)
SPANS = sorted(set(re.findall(r"`([^`\n]+)`", PROSE)))
BLOCKS = re.findall(r"(?:From \[`[^`]+`\]\(([^)]+)\):\n)?```(\w+)\n(.*?)```", TEXT, re.DOTALL)
RUN = [text for source, language, text in BLOCKS if language == "python" and not source]
QUOTED = [(source, text) for source, language, text in BLOCKS if source]
DIFFS = [
    (name, lines)
    for _, language, text in BLOCKS
    if language == "diff"
    for name, lines in re.findall(r"^\+\+\+ (\S+)\n((?:(?!\+\+\+).*\n)+)", text, re.MULTILINE)
]
PATH = re.compile(r"[\w.<>-]+(?:/[\w.<>-]+)+|[\w-]+\.(?:py|md)")
ELSEWHERE = {"increments.csv", "run.json", ".inp", "np.inf", "np.uintp", "math", "njit", "--method two"}
"""Files that runs write, endings, other libraries, options."""
TOOLS = ("git show ", "fem ", "sphinx-build ", "ruff ", "mypy", "pytest", "FEM_")


@cache
def defined(text: str) -> set[str]:
    """Names that a source defines: functions, classes, arguments, variables, fields, keyword arguments; of classes with
    those of their members, too, as ``Class.member``.
    """
    return defined_in([parsed(text)])


def defined_in(trees: Iterable[ast.AST]) -> set[str]:
    found, left = set[str](), list(trees)
    while left:
        node = left.pop()
        kind = type(node)
        if kind is ast.ClassDef:
            members = defined_in(node.body)
            found |= members | {f"{node.name}.{name}" for name in members if "." not in name} | {node.name}
            left += [*node.bases, *node.keywords, *node.decorator_list]
            continue
        if kind is ast.FunctionDef:
            found.add(node.name)
        elif kind is ast.arg or kind is ast.keyword:
            found.add(node.arg or "")
        elif kind is ast.Name or kind is ast.Attribute:
            if type(node.ctx) is ast.Store:
                found.add(node.id if kind is ast.Name else node.attr)
            elif kind is ast.Name:
                continue
        elif kind is ast.Constant:
            continue
        left += ast.iter_child_nodes(node)
    return found


OF_PYTHON = {*keyword.kwlist, *dir(builtins), "docs", "fem", "tests", "__future__"}


@cache
def sources() -> list[tuple[str, Path]]:
    return [
        (path.read_text(encoding="utf-8"), path)
        for folder in ("fem", "tests", "validation")
        for path in (ROOT / folder).rglob("*.py")
    ]


@cache
def imported(text: str) -> set[str]:
    return {node.name for node in ast.walk(parsed(text)) if isinstance(node, ast.alias)}


@cache
def is_name(name: str) -> bool:
    """Of Python, of a room or file, or of something that the program, its tests or cases define or import."""
    if name in OF_PYTHON or name in headlines():
        return True
    owner, _, last = name.rpartition(".")
    texts = [text for text, _ in sources() if last in text and f"class {owner}" * bool(owner) in text]
    texts.sort(key=lambda text: last not in given(text))
    return any(name in defined(text) or name in imported(text) for text in texts)


@cache
def headlines() -> set[str]:
    """Rooms, files, functions and classes."""
    found = {name for _, path in sources() for name in (path.stem, path.parent.name)}
    return found.union(*(re.findall(r"\b(?:def (?=\w+\()|class )(\w+)", text) for text, _ in sources()))


@cache
def given(text: str) -> set[str]:
    """What looks like names to which a source gives a value or a type: it is parsed before others."""
    return set(re.findall(r"\b(\w+(?=: | = )|[a-z]\w*(?==))", text))


def of_file(link: str) -> Path:
    return (PAGE.parent / link.partition("#")[0]).resolve()


def exists(path: str) -> bool:
    """A path from the root of the repository or the end of one; ``<case>`` stands for any name."""
    pattern = re.sub(r"<\w+>", "*", path)
    return any(ROOT.glob(pattern)) or any(
        any((ROOT / room).rglob(pattern)) for room in ("fem", "tests", "validation", "docs")
    )


def test_there_is_something_to_test():
    assert len(LINKS) > 60 and len(SPANS) > 150 and len(QUOTED) > 3 and len(DIFFS) > 5 and len(RUN) == 1


def test_links_lead_to_what_they_name():
    for words, link in LINKS:
        check_link(words, link)


def check_link(words: str, link: str) -> None:
    """To a heading; or to a file, which is the one that the words name, or defines the names in them."""
    if link.startswith("#"):
        headings = [
            re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in re.findall(r"^#+ (.*)", TEXT, re.M)
        ]
        assert link[1:] in headings, link
        return
    path = of_file(link)
    assert path.exists(), link
    for span in re.findall(r"`([^`]+)`", words):
        if PATH.fullmatch(span):
            assert str(path).removesuffix("/__init__.py").endswith(span), (span, link)
        elif path.name != "__init__.py" or path.parent.name != span:  # a room is linked by its first file
            for name in re.findall(r"[A-Za-z_]\w*", span):
                assert name in defined(path.read_text(encoding="utf-8")), (name, link)


def test_paths_and_names_exist():
    for span in SPANS:
        check_span(span)


def check_span(span: str) -> None:
    """Keywords of decks are known, paths exist, and so do all names in what is written as code."""
    if span in ELSEWHERE or span.startswith(TOOLS):
        return
    if span.startswith("*"):
        card = span[1:].partition(",")[0]
        assert card in KEYWORDS or card in FOREIGN, span
    elif PATH.fullmatch(span):
        assert exists(span), span
    else:
        words = re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", span))
        words += re.findall(r"\b[A-Z]\w*\.\w+", span)
        missing = [name for name in words if not is_name(name)]
        assert words and not missing, (span, missing)


@pytest.mark.parametrize("folder", ["fem", "docs", "benchmarks", "."])
def test_paths_that_sources_and_other_pages_name_exist(folder):
    """In comments, docstrings and texts, as ``solve/newton/march.py`` or ``tests/forces``."""
    found = ROOT.glob("*.md") if folder == "." else (ROOT / folder).rglob("*")
    files = [path for path in [*found, *ROOT.glob(".ci/run")] if path.suffix in (".py", ".md", "")]
    for path in filter(Path.is_file, files):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"(?<![\w/.])(?:[\w-]+/)+\w+\.py\b|(?<![\w/.])tests/[\w/]+(?![\w/.])", text)
        missing = [name for name in named if not exists(name) and not (path.parent / name).exists()]
        assert not missing, (path, missing)


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="not a clone")
def test_commits_exist():
    shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        pytest.skip("a shallow clone")
    for commit in re.findall(r"`git show (\w+)`", TEXT):
        subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT, check=True)


def test_quoted_code_is_that_of_the_file():
    """Every line quoted stands in the file, in this order, indented or not; others may be left out."""
    for name, lines in [*((str(of_file(source)), text) for source, text in QUOTED), *DIFFS]:
        rest = map(str.strip, (ROOT / name).read_text(encoding="utf-8").splitlines())
        for line in lines.splitlines():
            wanted = line.removeprefix("+").strip()
            assert not wanted or any(wanted == other for other in rest), f"{name}: {wanted}"


def test_the_rooms_are_those_of_the_architecture():
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", TEXT, re.MULTILINE)
    assert {room: set(re.findall(r"`(\w+)`", others)) for room, others in rows if room in ROOMS} == ROOMS


@pytest.mark.parametrize("text", RUN)
def test_the_example_runs(text, capsys):
    """It prints the law of the magnets' pull: PULL/gap^2 at the place that it prints.

    Kernels are run as Python functions: compiling for magnets would take longer than all else here.
    """
    with rehearsal():
        exec(compile(text, "extending.md", "exec"), {"__name__": "extending"})
    numbers = [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", capsys.readouterr().out)]
    assert numbers[3] == pytest.approx(PULL / (WALL - 2.0 - numbers[0]) ** 2, rel=1e-6)
