"""Files that a mesh file reads its numbers from: XDMF names them, HDF5 may lead into other files on its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

XDMF = (".xdmf", ".xmf")
HDF5 = b"\x89HDF\r\n\x1a\n"
SEPARATORS = {"HDF": ":", "Binary": ""}
"""What stands between the name of the file and the place in it, by format."""


def parts_of(path: Path, content: bytes) -> list[str]:
    """The names of files that a mesh file refers to, as they stand in it."""
    if path.suffix.lower() not in XDMF:
        return []
    from xml.etree import ElementTree

    try:
        return list(dict.fromkeys(name for _, name, _ in references(ElementTree.fromstring(content))))
    except ElementTree.ParseError:
        return []  # meshio says what is wrong


def references(root: Any) -> Iterator[tuple[Any, str, str]]:
    """Elements of XML whose numbers are in another file: the element, the name of the file, the rest of the text."""
    for item in root.iter():
        form = item.get("Format", "") if item.tag.rpartition("}")[2] == "DataItem" else ""
        if form in SEPARATORS and "Reference" not in item.attrib:
            text = (item.text or "").strip()
            name = text.partition(":")[0] if SEPARATORS[form] else text
            yield item, name, text[len(name) :]


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """A mesh file as meshio finds all its parts.

    It looks for binary parts in the current folder, wherever the file lies: give it a copy that names links.
    """
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
    """The first place in an HDF5 file that is kept in another file; empty where there is none."""
    with path.open("rb") as file:
        if file.read(len(HDF5)) != HDF5:
            return ""
    try:
        import h5py
    except ImportError:
        return ""  # then nothing reads it
    seen: set[object] = set()
    with h5py.File(path, "r") as file:
        groups = [file["/"]]
        while groups:
            group = groups.pop()
            for name in group:
                if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
                    return f"{group.name.rstrip('/')}/{name}"
                item = None
                with contextlib.suppress(KeyError):  # a link to nowhere
                    item = group[name]
                if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
                    return str(item.name)
                if isinstance(item, h5py.Group) and (key := h5py.h5o.get_info(item.id).addr) not in seen:
                    seen.add(key)
                    groups.append(item)
    return ""
