"""Files of other programs that are damaged: an error of fem comes, soon, that names file and line."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import fem
from fem.codes.from_moordyn import convert
from fem.errors import CommandError, DeckError
from fem.study.tracks import read_record
from tests import files_of_others as texts

MOST_SECONDS = 20.0
"""Of processor time for one file; the largest that pass the limits of the readers have a million nodes."""
WITHOUT_LINE = r"\S.*(expected a line of names and|reads? .* from|takes? .* from)"
"""Errors of a whole file: it has no lines; one that it names does not exist."""
DECK = """*INCLUDE, INPUT={name}
*MATERIAL, NAME=M
*ELASTIC
1e9
*SOLID SECTION, ELSET=EALL, MATERIAL=M
1e-4
*STEP
*STATIC
*END STEP
"""
CURVE = """*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=E
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e9
*SOLID SECTION, ELSET=E, MATERIAL=M
1.
*AMPLITUDE, NAME=A, INPUT=series.out, COLUMN=PtfmSurge
*STEP
*STATIC
*CLOAD, AMPLITUDE=A
2, 1, 1.
*END STEP
"""


def moordyn(name: str) -> Callable[[str, Path], object]:
    """The file of this name is damaged, the others are whole; some of what was imported is read as a deck, which may
    have errors with its lines."""

    def read(text: str, folder: Path) -> object:
        whole = {"lines.txt": texts.MOORDYN, "curve.txt": texts.CURVE, "current_profile.txt": texts.CURRENT}
        whole["wave_frequencies.txt"] = texts.WAVES
        for file, content in (whole | {name: text}).items():
            (folder / file).write_text(content, encoding="utf-8")
        convert(folder / "lines.txt", folder / "deck.inp", force=True)
        return zlib.crc32(text.encode()) % 40 or fem.read_deck(folder / "deck.inp")

    return read


def included(name: str, deck: str) -> Callable[[str, Path], object]:
    def read(text: str, folder: Path) -> object:
        (folder / name).write_text(text, encoding="utf-8")
        (folder / "deck.inp").write_text(deck.format(name=name))
        return fem.read_deck(folder / "deck.inp")

    return read


def record(text: str, folder: Path) -> object:
    (folder / "run.csv").write_text(text, encoding="utf-8")
    return read_record(folder / "run.csv", 1, lambda said: None)


READERS = {
    "moordyn": (texts.MOORDYN, moordyn("lines.txt")),
    "moordyn 1": (texts.OLD, moordyn("lines.txt")),
    "curve of EA": (texts.CURVE, moordyn("curve.txt")),
    "current": (texts.CURRENT, moordyn("current_profile.txt")),
    "waves": (texts.WAVES, moordyn("wave_frequencies.txt")),
    "nastran": (texts.NASTRAN, included("mesh.bdf", DECK)),
    "gmsh 4": (texts.MSH4, included("mesh.msh", DECK)),
    "gmsh 2": (texts.MSH2, included("mesh.msh", DECK)),
    "vtk": (texts.VTK, included("mesh.vtk", DECK)),
    "vtu": (texts.VTU, included("mesh.vtu", DECK)),
    "openfast": (texts.OUT, included("series.out", CURVE)),
    "record": (texts.CSV, record),
    "deck": (texts.INP, included("part.inp", "*INCLUDE, INPUT={name}\n")),
}


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_errors_with_file_and_line(name: str, count: int, tmp_path: Path) -> None:
    """The whole file is read, of the damaged ones some are, and no other error comes out."""
    whole, read = READERS[name]
    read(whole, tmp_path)
    refused = 0
    for text in texts.mutations(whole, count, 20261129):
        begin = time.process_time()
        try:
            read(text, tmp_path)
        except (DeckError, CommandError) as error:
            refused += 1
            assert re.match(r"\S+\.(txt|inp|csv|out|bdf|msh|vtk|vtu):\d+|" + WITHOUT_LINE, str(error)), str(error)
        assert time.process_time() - begin < MOST_SECONDS, text
    assert 0 < refused < count
