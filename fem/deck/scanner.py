"""Files to cards in reading order: follows includes, drops comments, evaluates and substitutes parameters.

Only regular files of the deck's folder tree are opened, each failure is reported at its place. A mesh file may name
others that contain its numbers: XDMF names them, HDF5 may link to other files.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fem.deck.cards import MAX_NAME, POINT, REFERENCE, Card, Field, Parameter, Piece, split_line, substitute, trimmed
from fem.deck.parameters import RESERVED, ArithmeticMistake, Course, Known
from fem.deck.source import Mistake, Place, Source, TextLines, did_you_mean, shown, squeezed
from fem.errors import CommandError

MAX_DEPTH = 20
MAX_INCLUDES = 1000
MAX_BYTES = 2**30
MESH_FILES = (
    "msh vtu vtk vtp med e exo ex2 xdmf xmf mesh meshb ele off obj ply stl ugrid su2 svg "
    "tec wkt avs bdf fem nas mdpa f3grid h5m cgns xml post gz dato pf3 unv neu cdb dxf step stp iges igs brep"
).split()
"""Extensions of meshes and geometries, without dot; others are deck text (so is an ``all.msh`` by CalculiX' cgx)."""
NUMBER = r"[-+.\dEe]+"
OUTSIDE = "included files must lie in the folder of the deck or below it"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


ALIASES = {"RAO": "FILE", "SEABED": "FILE"}
"""Another name of INPUT=, by keyword."""


class DeckFiles:
    """The files of one deck: reads them, guards the folder tree, keeps the hash of all bytes.
    ``stored`` keeps the text of the files: with it a deck is read again without access to the disk."""

    def __init__(self, stored: dict[Path, bytes] | None = None) -> None:
        self.stored: dict[Path, bytes] = {} if stored is None else stored
        self.counts_others = stored is None
        self.root: Path | None = None
        self.chain: list[Path] = []
        self.count = 0
        self.size = 0
        self.hash = hashlib.sha256()
        self.paths: dict[Path, None] = {}

    def open_deck(self, path: Path) -> Source:
        source = Source(str(path), TextLines(""), None)
        resolved = resolve(path, Place(source, 1, 1), str(path), strict=not self.stored)
        self.root = resolved.parent if not path.is_symlink() else path.parent.resolve()
        self.chain = [resolved]
        lines = decode(self.read(resolved, Place(source, 1, 1)), Place(source, 1, 1))
        return Source(str(path), lines, path.parent)

    def open_text(self, text: str, name: str, folder: Path | None) -> Source:
        """A deck given as text; includes are looked up in ``folder``."""
        self.root = folder.resolve() if folder is not None else None
        self.hash.update(text.encode("utf-8", "surrogatepass"))
        return Source(name, split_lines(text.removeprefix("\ufeff")), folder)

    def find(self, field: Field, keyword: Place) -> Path:
        """The file an ``*INCLUDE`` names: exists, lies in the tree, is not being read already."""
        source = keyword.source
        if not field.text:
            raise field.mistake("INPUT= a file name")
        if source.folder is None or self.root is None:
            raise Mistake(field.place, "a deck given as text without a folder cannot include files")
        resolved = resolve(source.folder / field.text, field.place, field.text, strict=False)
        if not resolved.is_relative_to(self.root):
            raise Mistake(field.place, f"{shown(field.text)} lies outside the deck's folder", OUTSIDE)
        resolve(resolved, field.place, field.text, strict=resolved not in self.stored)
        if resolved in self.chain:
            raise Mistake(field.place, f"{shown(field.text)} includes itself, directly or through other files")
        self.count += 1
        if self.count > MAX_INCLUDES or len(self.chain) > MAX_DEPTH:
            raise Mistake(field.place, f"more than {MAX_INCLUDES} includes, or nested deeper than {MAX_DEPTH}")
        return resolved

    def is_mesh(self, resolved: Path) -> bool:
        """Whether a file is a mesh, not deck text."""
        if resolved.suffix.lower()[1:] not in MESH_FILES:
            return False
        if not resolved.is_file():  # refused when it is read
            return True
        try:
            with resolved.open("rb") as stream:
                return not stream.read(1000).lstrip().startswith(b"*")
        except OSError:
            return True

    def read_mesh(self, resolved: Path, field: Field) -> None:
        """A mesh file and the files it refers to: part of the deck, so they lie in its folder and count in its hash."""
        for name in parts_of(resolved, self.read(resolved, field.place)):
            what = f"{shown(name)}, which {shown(field.text)} refers to,"
            part = resolve(resolved.parent / name, field.place, name, strict=False)
            if self.root is None or not part.is_relative_to(self.root):
                raise Mistake(field.place, f"{what} lies outside the deck's folder", OUTSIDE)
            if not part.is_file():
                raise Mistake(field.place, f"{what} does not exist")
            self.read(part, field.place)
            if inner := leads_outside(part):
                raise Mistake(field.place, f"{what} keeps {shown(inner)} in another file", OUTSIDE)
        if inner := leads_outside(resolved):
            raise Mistake(field.place, f"{shown(field.text)} keeps {shown(inner)} in another file", OUTSIDE)

    def count_others(self, field: Field, place: Place) -> None:
        """Of a file selected by parameters, ``mesh<n>.inp``, all candidates count in the hash that sweeps compare."""
        pieces = REFERENCE.split(field.text)[::2]
        folder = place.source.folder
        if len(pieces) == 1 or folder is None or Path(field.text).is_absolute() or not self.counts_others:
            return
        name = re.compile(NUMBER.join(map(re.escape, pieces)))
        for path in sorted(folder.glob("*".join(map(glob.escape, pieces)))):
            if name.fullmatch(path.relative_to(folder).as_posix()) and path.is_file():
                resolved = resolve(path, field.place, field.text)
                if self.root is not None and resolved.is_relative_to(self.root):
                    self.hash.update(path.name.encode(errors="surrogateescape"))
                    self.read_mesh(resolved, field)

    def read(self, resolved: Path, place: Place) -> bytes:
        """All bytes of a regular file."""
        try:
            if resolved not in self.stored:
                if not resolved.is_file():
                    raise Mistake(place, f"cannot read {shown(resolved.name)}: not a regular file")
                self.size += resolved.stat().st_size
                if self.size > MAX_BYTES:
                    raise Mistake(place, f"the deck and its includes are larger than {MAX_BYTES >> 20} MB")
                self.stored[resolved] = resolved.read_bytes()
        except OSError as error:
            raise unreadable(place, resolved.name, error) from error
        content = self.stored[resolved]
        self.paths[resolved] = None
        self.hash.update(content)
        return content

    def digest(self) -> str:
        """SHA-256 of all bytes read: the same deck with other ``--set`` values is the same deck."""
        return self.hash.hexdigest()


def resolve(path: Path, place: Place, name: str, strict: bool = True) -> Path:
    """The real path of a file, which must exist if ``strict``."""
    try:
        return path.resolve(strict=strict)
    except (OSError, ValueError, RuntimeError) as error:
        raise unreadable(place, name, error) from error


def unreadable(place: Place, name: str, error: Exception) -> Mistake:
    """A file that cannot be opened, with the system's reason."""
    if isinstance(error, FileNotFoundError):
        return Mistake(place, f"there is no file {shown(name)}")
    return Mistake(place, f"cannot read {shown(name)}: {getattr(error, 'strerror', None) or error}")


def decode(content: bytes, place: Place) -> TextLines:
    """Lines of a file: UTF-8, else Latin-1 (which never fails)."""
    if content.startswith(UTF16):
        raise Mistake(place, "the file is UTF-16 text", "save it as UTF-8")
    if b"\0" in content:
        raise Mistake(place, "the file is not text", "a deck is plain text; meshes need their extension")
    try:
        return split_lines(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return split_lines(content.decode("latin-1"))


def split_lines(text: str) -> TextLines:
    """Lines without their ends, which may be LF, CRLF or CR."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return TextLines(text)


XDMF = (".xdmf", ".xmf")
HDF5 = b"\x89HDF\r\n\x1a\n"
SEPARATORS = {"HDF": ":", "Binary": ""}
"""Separator between the name of the file and the place in it, by format."""


def parts_of(path: Path, content: bytes) -> list[str]:
    """Names of the files that a mesh file refers to, as written in it."""
    if path.suffix.lower() not in XDMF:
        return []
    from xml.etree import ElementTree

    try:
        return list(dict.fromkeys(name for _, name, _ in references(ElementTree.fromstring(content))))
    except ElementTree.ParseError:
        return []  # its reader reports the error


def references(root: Any) -> Iterator[tuple[Any, str, str]]:
    """XML elements whose numbers are in another file: the element, the name of the file, the rest of the text."""
    for item in root.iter():
        form = item.get("Format", "") if item.tag.rpartition("}")[2] == "DataItem" else ""
        if form in SEPARATORS and "Reference" not in item.attrib:
            text = (item.text or "").strip()
            name = text.partition(":")[0] if SEPARATORS[form] else text
            yield item, name, text[len(name) :]


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """The path of a mesh file from which meshio finds all its parts.
    It looks for binary parts in the current folder: if they are elsewhere, a temporary copy contains links to them."""
    if path.suffix.lower() not in XDMF or not parts_of(path, path.read_bytes()):
        yield path
        return
    import tempfile
    from xml.etree import ElementTree

    tree = ElementTree.parse(path)
    with tempfile.TemporaryDirectory(prefix="fem-mesh-") as folder:
        for number, (item, name, rest) in enumerate(references(tree.getroot())):
            part = Path(folder) / f"part{number}"
            link(path.parent / name, part)
            item.text = f"{part.name if rest else part}{rest}"
        tree.write(Path(folder) / path.name)
        yield Path(folder) / path.name


def link(path: Path, place: Path) -> None:
    """A link, or a copy where the system has none."""
    try:
        place.symlink_to(path.resolve())
    except OSError:
        import shutil

        shutil.copyfile(path, place)


def leads_outside(path: Path) -> str:
    """The first place in an HDF5 file that is stored in another file; empty if there is none."""
    with path.open("rb") as file:
        if file.read(len(HDF5)) != HDF5:
            return ""
    try:
        import h5py
    except ImportError:
        return ""  # then no file can be read
    seen: set[object] = set()
    with h5py.File(path, "r") as file:
        groups = [file["/"]]
        while groups:
            group = groups.pop()
            for name in group:
                if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
                    return f"{group.name.rstrip('/')}/{name}"
                item = None
                with contextlib.suppress(KeyError):  # a broken link
                    item = group[name]
                if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
                    return str(item.name)
                if isinstance(item, h5py.Group) and (key := h5py.h5o.get_info(item.id).addr) not in seen:
                    seen.add(key)
                    groups.append(item)
    return ""


ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)", re.ASCII)


class Scanner:
    """Collects ``cards`` and the ``parameters`` of a deck; mistakes go to ``report``, scanning continues.

    overrides  values of parameters by name in upper case; traced ones belong to ``course``
    keywords   known names without blanks: any other text after one asterisk and a blank is a comment
    """

    def __init__(
        self, files: DeckFiles, report: Callable[[Mistake], None], overrides: Mapping[str, float], course: Course,
        keywords: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.files, self.report, self.course, self.keywords = files, report, course, keywords
        self.cards: list[Card] = []
        self.table: dict[str, tuple[int, Any]] = {}
        self.values = Known(self.table)
        self.spellings: dict[str, str] = {}
        self.overrides = overrides
        self.open: Card | None = None
        self.pieces: list[Piece] = []
        self.stray = False
        self.remarks, self.first_remark = 0, ""

    def scan(self, source: Source) -> None:
        lines = source.lines
        stars = [number for number in lines.numbers_with("*") if lines[number - 1].lstrip()[0] == "*"]
        start, skip = 1, 0
        for number in stars:
            self.data(source, start, number)
            start = max(start, number + 1)
            if number < skip or self.is_comment(source, number):
                continue
            try:
                start = skip = self.keyword(source, number)
            except Mistake as mistake:
                self.report(mistake)
                self.close()
                self.open = Card("", {}, (), Place(source, number, 1), self.values)  # collects its data lines
        self.data(source, start, len(lines) + 1)

    def is_comment(self, source: Source, number: int) -> bool:
        """``** text``, and ``* text`` that is no keyword: users mean a comment, though Abaqus wants two asterisks."""
        text: str = source.lines[number - 1].lstrip()
        if text[1:2] not in (" ", "\t") or squeezed(text[1:].partition(",")[0]) in self.keywords:
            return text.startswith("**")
        self.first_remark = self.first_remark or str(Place(source, number, 1))
        self.remarks += 1
        return True

    def data(self, source: Source, start: int, stop: int) -> None:
        """Lines without keywords belong to the open card."""
        if start >= stop:
            return
        if self.open is not None:
            self.pieces.append(Piece(source, start, stop))
            return
        stray = next((number for number in range(start, stop) if source.lines[number - 1].strip()), None)
        if stray is not None and not self.stray:
            self.stray = True
            self.report(Mistake(Place(source, stray, 1), "data before the first keyword", "keyword lines start with *"))

    def close(self) -> None:
        """Completes the open card. Call once after the outermost file."""
        if self.open is None:
            return
        card = replace(self.open, pieces=tuple(self.pieces)) if self.pieces else self.open
        self.open, self.pieces = None, []
        self.cards.append(card)
        if squeezed(card.keyword) == "PARAMETER":
            for source, start, stop in card.pieces:
                for number in range(start, stop):
                    try:
                        self.assign(source, number)
                    except Mistake as mistake:
                        self.report(mistake)
            self.values = Known(self.table)

    def keyword(self, source: Source, number: int) -> int:
        """Read the keyword line at ``number``; the number of the first line after it."""
        place, word, entries, after = keyword_line(source, number)
        if squeezed(word) == "INCLUDE":
            self.include(place, entries)
            return after
        self.close()
        parameters, mistakes = read_parameters(entries, self.values, word)
        for mistake in mistakes:
            self.report(mistake)
        self.open = Card(word, parameters, (), place, self.values, broken=bool(mistakes))
        given = {"INPUT", ALIASES.get(squeezed(word), "INPUT")} & set(parameters)
        if len(given) == 1 and squeezed(word) in self.keywords:
            (name,) = given
            field = self.open.field(name)
            del parameters[name]
            self.open = replace(self.open, file=field, broken=True)
            resolved = self.find(entries, field, place)
            self.open = replace(self.open, broken=bool(mistakes))
            self.follow(resolved, field, place)
        return after

    def include(self, place: Place, entries: list[Field]) -> None:
        """Reads another file; data lines at its top belong to the card that is open here."""
        parameters, mistakes = read_parameters(entries, self.values, "INCLUDE")
        if mistakes:
            raise mistakes[0]
        for name in parameters:
            if name != "INPUT":
                hint = did_you_mean(name, ["INPUT"])
                raise Mistake(parameters[name].place, f"*INCLUDE has no parameter {shown(name)}", hint)
        card = Card("INCLUDE", parameters, (), place, self.values)
        if not card.has("INPUT"):
            raise Mistake(place, "*INCLUDE needs INPUT= a file name")
        field = card.field("INPUT")
        resolved = self.find(entries, field, place)
        if self.files.is_mesh(resolved):
            self.files.read_mesh(resolved, field)
            self.close()
            self.cards.append(replace(card, mesh=resolved))
            return
        self.follow(resolved, field, place)

    def find(self, entries: list[Field], field: Field, place: Place) -> Path:
        """The file named by INPUT=; files selected by other values of parameters are part of the hash, too."""
        resolved = self.files.find(field, place)
        for entry in entries:
            name, _, file = entry.text.partition("=")
            if squeezed(name) in ("INPUT", *ALIASES.values()):
                self.files.count_others(entry._replace(text=file.strip()), place)
        return resolved

    def follow(self, resolved: Path, field: Field, place: Place) -> None:
        self.files.chain.append(resolved)
        try:
            outer = place.source
            assert outer.folder is not None
            path = outer.folder / field.text
            lines = decode(self.files.read(resolved, field.place), field.place)
            chain = ((outer.name, place.line), *outer.chain)
            self.scan(Source(str(path), lines, path.parent, chain, (*outer.position, place.line)))
        finally:
            self.files.chain.pop()

    def assign(self, source: Source, number: int) -> None:
        """One ``name = arithmetic`` line; an override replaces the value, but the line must still be valid."""
        text = source.lines[number - 1].partition("#")[0]  # a comment, as in Abaqus' parameters
        if not text.strip():
            return
        match = ASSIGNMENT.match(text)
        if match is None:
            place = Place(source, number, 1 + len(text) - len(text.lstrip()))
            raise Mistake(place, f"expected name = arithmetic, got {shown(text.strip())}")
        name = match.group(1)
        place = Place(source, number, match.start(1) + 1)
        if len(name) > MAX_NAME:
            raise Mistake(place, f"a parameter name is longer than {MAX_NAME} characters")
        if name.lower() in RESERVED:
            raise Mistake(place, f"{name} is the name of a function or constant", "choose another name")
        if name.upper() in self.table:
            earlier_name = self.spellings[name.upper()]
            hint = "" if earlier_name == name else f"upper and lower case are the same: {earlier_name} stands above"
            raise Mistake(place, f"parameter {shown(name)} is defined twice", hint)
        override = self.overrides.get(name.upper())
        value: Any = 1.0 if override is None else override
        self.spellings[name.upper()] = name
        try:
            earlier, numbers = Known(self.table), Known(self.table, is_plain=True)
            value = self.course.assign(name.upper(), text[match.end() :], earlier, numbers, override)
        except ArithmeticMistake as mistake:
            where = Place(source, number, match.end() + mistake.column + 1)
            raise Mistake(where, mistake.message, mistake.hint) from mistake
        finally:
            self.table[name.upper()] = len(self.table), value


def keyword_line(source: Source, number: int) -> tuple[Place, str, list[Field], int]:
    """(place of the asterisk, keyword, entries after it, number of the line after), trailing commas continuing."""
    text = source.lines[number - 1]
    place = Place(source, number, 1 + len(text) - len(text.lstrip()))
    entries: list[Field] = []
    continued = True
    while continued:
        pieces = split_line(source.lines[number - 1])
        for piece, column in pieces:
            bare, start, quoted = trimmed(piece, column)
            entries.append(Field(bare, Place(source, number, start), quoted))
        continued = len(pieces) > 1 and not pieces[-1][0].strip()
        number += 1
        if continued:
            while number <= len(source.lines) and source.lines[number - 1].lstrip().startswith("**"):
                number += 1
            following = source.lines[number - 1].strip() if number <= len(source.lines) else ""
            continued = following != "" and not following.startswith("*")
    word = " ".join(entries.pop(0).text[1:].split()).upper()
    entries = [entry for entry in entries if entry.text or entry.quoted]
    if not word or not word[0].isalpha():
        hint = "comments start with two asterisks"
        raise Mistake(place, f"expected a keyword after the asterisk, got {shown(word)}", hint)
    return place, word, entries, number


def read_parameters(
    entries: list[Field], values: Mapping[str, float], keyword: str
) -> tuple[dict[str, Parameter], list[Mistake]]:
    """``NAME`` and ``NAME=value`` entries by name without blanks, with ``<name>`` replaced in values; mistakes."""
    parameters: dict[str, Parameter] = {}
    mistakes: list[Mistake] = []
    for entry in entries:
        try:
            parameter = read_parameter(entry, values, keyword)
            if squeezed(parameter.name) in parameters:
                raise Mistake(entry.place, f"parameter {parameter.name} is given twice")
            parameters[squeezed(parameter.name)] = parameter
        except Mistake as mistake:
            mistakes.append(mistake)
            if entry.is_number():
                break
    return parameters, mistakes


def read_parameter(entry: Field, values: Mapping[str, float], keyword: str) -> Parameter:
    left, equals, right = entry.text.partition("=") if not entry.quoted else (entry.text, "", "")
    name = " ".join(left.split()).upper()
    if not name or entry.is_number():
        hint = f"a comma at the end of a line continues the keyword line; {POINT}" if name else ""
        raise Mistake(entry.place, f"expected a parameter of *{shown(keyword)[1:-1]}, got {shown(entry.text)}", hint)
    if not equals:
        return Parameter(name, None, entry.place)
    text, column, quoted = trimmed(right, entry.place.column + len(left) + 1)
    place = Place(entry.place.source, entry.place.line, column)
    return Parameter(name, Field(text if quoted else substitute(text, values, place), place, quoted), entry.place)


def checked_overrides(parameters: Mapping[str, float] | None) -> dict[str, float]:
    """The values of ``--set`` by name in upper case: finite numbers."""
    for name, value in (parameters or {}).items():
        try:
            fine = math.isfinite(value)
        except (TypeError, OverflowError):
            fine = False
        if not fine:
            raise CommandError(f"{name}={value!r} is not a finite number")
    return {name.upper(): float(value) for name, value in (parameters or {}).items()}
