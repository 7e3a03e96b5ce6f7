"""``*INCLUDE`` and ``--set``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fem.deck import parse_deck, read_deck
from fem.errors import CommandError, DeckError
from tests.deck.decks import GOOD, MATERIAL, MESH, STEP

SMALL = GOOD[0]


def write(folder: Path, **files: str) -> Path:
    """Files ``name_inp=text``; the path of main.inp."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_inp", ".inp")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "main.inp"


def failing(path: Path) -> DeckError:
    with pytest.raises(DeckError) as caught:
        read_deck(path)
    return caught.value


def test_cards_and_bare_data_lines(tmp_path: Path) -> None:
    nodes = "2, 1, 0\n** comment\n3, 2, 0\n"
    main = SMALL.replace("2, 1, 0\n3, 2, 0\n", "*INCLUDE, INPUT=sub/nodes.inp\n")
    main = main.replace(MATERIAL, '*include, input="sub/material.inp"\n')
    path = write(
        tmp_path, main_inp=main, sub__nodes_inp=nodes, sub__material_inp="*INCLUDE, INPUT=m.inp\n", sub__m_inp=MATERIAL
    )
    assert read_deck(path) == parse_deck(SMALL)


def test_chain_of_files_in_reading_order(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        main_inp="*BAD1\n*INCLUDE, INPUT=a.inp\n*BAD3\n",
        a_inp="\n*INCLUDE, INPUT=b.inp\n*BAD2\n",
        b_inp="*NODE\n1, x\n",
    )
    error = failing(path)
    assert [Path(p.file).name for p in error.problems] == ["main.inp", "b.inp", "a.inp", "main.inp"]
    assert [Path(file).name + f":{line}" for file, line in error.problems[1].included_from] == ["a.inp:2", "main.inp:2"]
    assert "included from" in str(error)


def test_no_cycles(tmp_path: Path) -> None:
    path = write(tmp_path, main_inp="*INCLUDE, INPUT=a.inp\n", a_inp="*INCLUDE, INPUT=./main.inp\n")
    assert "includes itself" in str(failing(path))


def test_no_bombs(tmp_path: Path) -> None:
    files = {f"f{n}_inp": f"*INCLUDE, INPUT=f{n + 1}.inp\n" * 2 for n in range(15)}
    path = write(tmp_path, main_inp="*INCLUDE, INPUT=f0.inp\n", f15_inp="** end\n", **files)
    assert "more than 1000 includes" in str(failing(path))


@pytest.mark.parametrize(
    "name", ["../outside.inp", "link.inp", "/etc/passwd", "folder/../../outside.inp", "x" * 5000, "a\x00b"]
)
def test_no_escape(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.inp").write_text("*NODE\n")
    (tmp_path / "deck" / "folder").mkdir(parents=True)
    (tmp_path / "deck" / "link.inp").symlink_to(tmp_path / "outside.inp")
    path = write(tmp_path / "deck", main_inp=f"*INCLUDE, INPUT={name}\n")
    assert failing(path).problems[0].line == 1


def test_symlink_inside_the_tree_and_absolute_path_inside_are_fine(tmp_path: Path) -> None:
    path = write(tmp_path, main_inp=f"*INCLUDE, INPUT={tmp_path}/link.inp\n", real_inp=SMALL)
    (tmp_path / "link.inp").symlink_to(tmp_path / "real.inp")
    assert read_deck(path) == parse_deck(SMALL)


def test_unreadable_decks(tmp_path: Path) -> None:
    (tmp_path / "loop.inp").symlink_to(tmp_path / "loop.inp")
    os.mkfifo(tmp_path / "pipe.inp")
    for name in ("missing.inp", "", "loop.inp", "pipe.inp", "a\x00b.inp", "y" * 5000):
        assert len(failing(tmp_path / name).problems) == 1


def test_text_without_folder_includes_nothing() -> None:
    with pytest.raises(DeckError, match="without a folder"):
        parse_deck("*INCLUDE, INPUT=x.inp\n")


DECK = "*PARAMETER\nk = 100\nLoad = k / 10\n" + MESH + MATERIAL + STEP.format("*CLOAD\n3, 3, <load>\n")


def test_overrides() -> None:
    model = parse_deck(DECK, {"K": 500.0})
    assert model.parameters == {"k": 500.0, "Load": 50.0}
    assert model.steps[0].nodal_loads[0].value == 50.0
    assert model.digest == parse_deck(DECK).digest


def test_override_of_nothing_is_a_command_error() -> None:
    with pytest.raises(CommandError, match=r"no \*PARAMETER LOAT; did you mean Load"):
        parse_deck(DECK, {"loat": 1.0})
    with pytest.raises(CommandError, match="finite"):
        parse_deck(DECK, {"k": float("nan")})


def test_digest_covers_includes(tmp_path: Path) -> None:
    path = write(tmp_path, main_inp="*INCLUDE, INPUT=a.inp\n", a_inp=SMALL)
    first = read_deck(path)
    assert first.source == str(path)
    assert len(first.digest) == 64
    write(tmp_path, a_inp=SMALL + "**\n")
    assert read_deck(path).digest != first.digest
