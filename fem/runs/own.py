"""Ownership of a results folder: which files belong to the program, may be replaced, or belong to the user.

The program's own files are those in the record of an earlier run of the same command (``run.json``: the deck, the
files), and pictures with the program's mark. Input files of the deck are never overwritten, not even through links.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from fem.commands.files import (
    LOCK,
    PAPER,
    PART,
    REPORT,
    FolderLock,
    Room,
    as_bytes,
    clear_parts,
    is_marked,
    on_disk,
    open_regular,
)
from fem.errors import CommandError, listed
from fem.model import Model
from fem.model.quantities import NODAL

FEW = 3
"""Largest number of files named in a message."""
RESULTS = Path("results")
FORCE = "--force (force=True)"
FIGURES = (
    *("energies", "iterations", *(quantity.figure for quantity in NODAL if quantity.figure)),
    *("angles", "links", "reactions", "joints", "phase", "phase_angles"),
    *("tension", "envelope", "shapes", "curvature", "touchdown", "response"),
    *("modes", "buckling", "load_factor"),
)
FORMATS = ("png", "svg", "pdf")
FILM = "motion"
FILMS = ("gif", "mp4", "html")
PLOTTED = tuple(f"{name}.png" for name in FIGURES[:3])
"""What ``run --plot`` draws."""
PICTURES = tuple(f"{name}.{form}" for name in FIGURES for form in FORMATS) + tuple(f"{FILM}.{form}" for form in FILMS)
PICTURES += (REPORT, PAPER, "tornado.png")
"""All that is drawn into a folder of results, out of date once the deck is run again."""
POSTED = (
    ".",
    r"(((rainflow|range)_[A-Z]+[1-3]?|kink)_.+\.(csv|png)|(steady_)?(nodes_|elements_)?sensitivity\.csv|uncertain\.csv)",
)
"""Folders and names of files that ``fem post``, ``--sensitivity`` and ``--uncertain`` write beside the tables; out of
date once the deck is run again."""


@dataclass(frozen=True, slots=True)
class Names:
    """Files below a folder, as posix names.

    listed   single names
    series   (subfolder, pattern of names in it): files numbered during the run
    pictures the program's own if they have its mark
    """

    listed: frozenset[str] = frozenset()
    series: tuple[tuple[str, str], ...] = ()
    pictures: tuple[str, ...] = ()

    def among(self, folder: Path) -> set[str]:
        """The names that exist in a folder, as files of any kind."""
        found = {name for name in self.listed if os.path.lexists(folder / name)}
        found |= {name for name in self.pictures if is_marked(folder / name)}
        for below, pattern in self.series:
            with contextlib.suppress(OSError):
                names = [path.name for path in (folder / below).iterdir() if re.fullmatch(pattern, path.name)]
                found |= {str(PurePosixPath(below, name)) for name in names}
        return found


@dataclass(frozen=True, slots=True)
class Origin:
    """The deck that results come from. ``inputs``: all files it was read from."""

    path: Path
    digest: str
    inputs: tuple[Path, ...] = ()

    def seen_from(self, folder: Path) -> str:
        """Path of the deck relative to the folder of its results: both may be moved together."""
        return seen_from(self.path.parent, folder)

    def is_of(self, record: Mapping[str, Any], folder: Path) -> bool:
        """Whether the record is of this deck file, whatever the text of the deck was."""
        found = record.get("deck")
        if not isinstance(found, Mapping) or on_disk(str(found.get("file"))) != self.path.name:
            return False
        return found.get("sha256") == self.digest or record.get("deck_folder") == self.seen_from(folder)

    def read_among(self, paths: Iterable[Path]) -> list[Path]:
        """Those paths that are input files of the deck or links to one, by the identity of the file."""
        inputs = {identity for path in self.inputs if (identity := identity_of(path))}
        return [path for path in paths if identity_of(path) in inputs]


def seen_from(place: Path, folder: Path) -> str:
    """Path of a folder relative to another one."""
    whole = os.path.realpath(place)
    try:
        return Path(os.path.relpath(whole, os.path.realpath(folder))).as_posix()
    except ValueError:  # another drive of Windows
        return Path(whole).as_posix()


def identity_of(path: Path) -> tuple[int, int] | None:
    """Device and inode: the same for a file and all links to it; None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def listed_names(record: Mapping[str, Any]) -> frozenset[str]:
    """The files that a record lists, with names below its folder only."""
    files = record.get("files")
    names = [on_disk(name) for name in files if isinstance(name, str)] if isinstance(files, list) else []
    paths = ((name, PurePosixPath(name)) for name in names if "\\" not in name)
    return frozenset(name for name, path in paths if path.parts and ".." not in path.parts and not path.is_absolute())


PARTS: dict[str, type] = {"deck": dict, "settings": dict, "totals": dict, "notices": list}
"""Entries of a record, with their types."""


def from_json(content: bytes) -> dict[str, Any]:
    """Reads a record. ValueError: it is not valid, or contains NaN or Infinity, which the program never writes."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    found = json.loads(content.decode("utf-8"), parse_constant=refuse)
    if not isinstance(found, dict):
        raise ValueError(f"it is a {type(found).__name__}")
    for name, kind in PARTS.items():
        if not isinstance(found.get(name, kind()), kind):
            raise ValueError(f"{name} is {found[name]!r:.40}")
    return found


def number_in(value: Any) -> float:
    """A number of a record; NaN for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def listed_there(record: Mapping[str, Any]) -> Names:
    """The files that a record lists, and the report: all belong to the program."""
    return Names(listed_names(record), pictures=(REPORT, PAPER))


def claim(
    model: Model, output: str | Path | None, record: str, names: Names, kind: str = "", force: bool = False,
    owned: Callable[[Mapping[str, Any]], Names] = listed_there,
) -> OwnFolder:  # fmt: skip
    """The folder that a command writes into: ``output``, else ``results/<deck>_<kind>``; not opened yet.
    CommandError: it contains files of the user."""
    folder = RESULTS / "_".join(filter(None, (deck_name(model), kind))) if output is None else Path(output)
    own = OwnFolder(folder, record, origin_of(model), names, owned, force)
    own.check()
    return own


def read_record(path: Path) -> dict[str, Any] | None:
    """The record in a folder; None if there is none, empty if it cannot be read."""
    try:
        with open_regular(path) as file:
            return from_json(file.read())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        return {}


@dataclass(slots=True)
class OwnFolder:
    """The folder that a command writes into.

    path    may be absent or empty, or contain earlier results of the same deck file; otherwise it is refused
    record  name of the record
    names   files that will be written
    owned   maps a record to the files that belong to the program
    force   replace files of these names in any folder, but never inputs of the deck
    """

    path: Path
    record: str
    origin: Origin
    names: Names
    owned: Callable[[Mapping[str, Any]], Names] = listed_there
    force: bool = False
    _lock: FolderLock = field(init=False)
    _is_new: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._lock = FolderLock(self.path)

    def check(self) -> None:
        """Checks the folder without changing it. CommandError: it cannot be used, with the reason."""
        usable_folder(self.path)
        if not self.path.is_dir():
            return
        planned, ours = self.names.among(self.path), self._ours()
        if read := self.origin.read_among(self.path / name for name in sorted(planned | ours)):
            raise CommandError(f"{read[0]} is an input of the deck and would be overwritten: {ELSEWHERE}")
        if folders := sorted(name for name in planned if (self.path / name).is_dir()):
            raise CommandError(f"{self.path / folders[0]} is a folder; a file of that name is needed")
        for below in self._below():
            if os.path.lexists(self.path / below) and not (self.path / below).is_dir():
                raise CommandError(f"{self.path / below} is not a folder; one is needed for files")
        if self.force:
            return
        found = read_record(self.path / self.record)
        if found is None and (strangers := others(self.path)):
            raise CommandError(
                f"{self.path} contains other files ({listed(strangers, FEW)}): {ELSEWHERE}, or {REPLACE}"
            )
        if found is not None and not self.origin.is_of(found, self.path):
            raise CommandError(f"{self.path} contains the results of another deck: {ELSEWHERE}, or {REPLACE}")
        if strangers := sorted(planned - ours - {self.record}):
            raise CommandError(f"{self.path} contains other files ({listed(strangers, FEW)}): {ELSEWHERE}, {REPLACE}")

    def _below(self) -> set[str]:
        """Subfolders into which files are written."""
        parents = {str(PurePosixPath(name).parent) for name in self.names.listed} - {"."}
        return parents | {below for below, _ in self.names.series}

    def open(self) -> None:
        """Creates the folder if necessary, locks it, and checks it again. CommandError: another run holds it."""
        self._is_new = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
            self.check()
            clear_parts(self.path)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError) and error.filename is None:
                error.filename = str(self.path)
            raise

    def stale(self) -> frozenset[str]:
        """Files that ``clear`` removes: those of an earlier run, and those with names that will be written."""
        return frozenset(self.names.among(self.path) | self._ours()) - {self.record}

    def clear(self, names: Iterable[str]) -> None:
        """Removes files and the subfolders that become empty; links are removed, not their targets."""
        names = list(names)
        for name in names:
            (self.path / name).unlink(missing_ok=True)
        for below in {".", *self._below(), *(str(PurePosixPath(name).parent) for name in names)}:
            clear_parts(self.path / below)
            if below != ".":
                with contextlib.suppress(OSError):
                    (self.path / below).rmdir()

    def begin(self, about: Mapping[str, Any]) -> None:
        """Writes the record with the entries ``about``, then removes the files of an earlier run."""
        stale = self.stale()
        self.note({**about, **self.about()})
        self.clear(stale)

    def note(self, record: Mapping[str, Any]) -> None:
        """Writes the record; disk space for it is reserved while the folder is open."""
        self._lock.room.replace(self.path / self.record, as_json(record))

    def about(self) -> dict[str, Any]:
        """Entries of the record beside the deck, if all names are known in advance."""
        return {"deck_folder": self.origin.seen_from(self.path), "files": sorted(self.names.listed)}

    def written(self) -> list[str]:
        """Existing files of the program, for the list in the record."""
        return sorted(self.names.among(self.path) | {self.record})

    @property
    def room(self) -> Room:
        """Disk space reserved for the last files, while the folder is open."""
        return self._lock.room

    def close(self) -> None:
        """Release the lock; remove the folder if it is new and empty."""
        self._lock.release()
        if self._is_new:
            with contextlib.suppress(OSError):
                self.path.rmdir()

    def __enter__(self) -> OwnFolder:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ours(self) -> set[str]:
        """Existing names that belong to the recorded run."""
        return self.owned(read_record(self.path / self.record) or {}).among(self.path)


def as_json(record: Mapping[str, Any]) -> bytes:
    """A record as the bytes of its file."""
    text = json.dumps(plain(record), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode(errors="backslashreplace")


def deck_entry(model: Model) -> dict[str, Any]:
    """The entry of a model's deck in a record."""
    return {"file": Path(model.source).name, "sha256": model.digest, "parameters": model.parameters}


def deck_name(model: Model) -> str:
    return stem_of(model.source)


def stem_of(file: str) -> str:
    """Name of a deck for results files, without folder and ending; bytes that are not UTF-8 are read as Latin-1."""
    stem = Path(file).stem or "model"
    if stem.isascii():
        return stem
    name = as_bytes(stem)
    try:
        return on_disk(name.decode())
    except UnicodeDecodeError:
        return on_disk(name.decode("latin-1"))


def origin_of(model: Model) -> Origin:
    """The deck of a model, and all files it was read from."""
    return Origin(Path(model.source or "model"), model.digest, tuple(map(Path, model.files)))


def plain(value: Any) -> Any:
    """The value as JSON can store it: sets sorted, arrays as lists, NaN and infinity as their names."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, (list, tuple)):
        is_plain = set(map(type, value)) == {float} and all(map(math.isfinite, value))  # of sweeps, up to 1e7 numbers
        return list(value) if is_plain else [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


ELSEWHERE = "nothing was changed; choose a folder with --output DIR"
REPLACE = f"overwrite the program's files in it with {FORCE}"


def others(folder: Path) -> list[str]:
    """Names in a folder, except temporary files of this program."""
    return sorted(path.name for path in folder.iterdir() if path.name != LOCK and not path.name.endswith(PART))


def usable_folder(folder: Path) -> Path:
    """The folder, if it is one or can become one; nothing is created yet."""
    place = folder.absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise CommandError(f"cannot write results to {folder}: {place} is not a folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise CommandError(f"cannot write results to {folder}: no permission to write in {place}")
    return folder


def check_file(path: Path, inputs: Iterable[Path], force: bool, is_ours: bool) -> None:
    """Checks a single file before it is written. CommandError: it exists and is not the program's, or is an input."""
    if not os.path.lexists(path):
        return
    if path.is_dir():
        raise CommandError(f"{path} is a folder; --output must name a file")
    if Origin(path, "", tuple(inputs)).read_among([path]):
        raise CommandError(f"{path} is an input and would be overwritten; nothing was changed: choose another name")
    if not (force or is_ours):
        what = f"{path} exists and was not written by fem; nothing was changed"
        raise CommandError(f"{what}: choose another name, or use --force")
