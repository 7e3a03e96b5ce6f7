"""Checkpoints: the state from which a run continues, in one file, and the check that it belongs to the run.

Arrays are stored as in NumPy's ``.npz``, everything else as one JSON text. Nothing in such a file is executed: arrays
are numbers, and of objects only the fields are stored, under names that the reader maps to its own types. A checksum of
the whole content detects damage.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fem.commands.files import replace_file
from fem.errors import CommandError, tell_once
from fem.model import PARTS, Model

FORMAT = 9
"""Version of the file format; raised when the meaning of its content changes."""
NAME, BEFORE = "checkpoint.npz", "checkpoint_before.npz"
"""The latest checkpoint, and the latest older one that is safely on the disk."""
HEAD, SEAL = "head", "seal"
ANEW = "start without --continue"


def write_checkpoint(
    path: Path, tree: Mapping[str, Any], versions: Mapping[str, str | None], is_synced: bool = False,
    before: Path | None = None,
) -> None:  # fmt: skip
    """Writes a tree of dicts, sequences, numbers, texts, arrays, dataclasses and named tuples, atomically.
    ``is_synced``, ``before`` as in ``replace_file``."""
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps({"format": FORMAT, "versions": dict(versions), "tree": flattened(tree, arrays)})
    arrays[HEAD] = np.frombuffer(text.encode(), np.uint8)
    content = io.BytesIO()
    np.savez(content, **arrays, **{SEAL: np.frombuffer(seal_of(arrays), np.uint8)})  # type: ignore[arg-type]
    replace_file(path, content.getvalue(), is_synced=is_synced, before=before)


def read_last(
    folder: Path, versions: Mapping[str, str | None], types: Mapping[str, type]
) -> tuple[Path, dict[str, Any]] | None:
    """The latest undamaged checkpoint in a folder; None if there is none. CommandError as in ``read_checkpoint``."""
    last, before = folder / NAME, folder / BEFORE
    if not last.exists() and not before.exists():
        return None
    try:
        return last, read_checkpoint(last, versions, types)
    except CommandError as error:
        with contextlib.suppress(CommandError):
            found = read_checkpoint(before, versions, types)
            tell_once(f"{' '.join(str(error).removesuffix(ANEW).split())} the run continues from {BEFORE}")
            return before, found
        raise


def read_checkpoint(
    path: Path, versions: Mapping[str, str | None], types: Mapping[str, type], otherwise: str = ANEW
) -> dict[str, Any]:
    """The tree; sequences become tuples. ``types``: dataclasses and named tuples by name.

    otherwise  advice for the message: what to do without the checkpoint

    CommandError: it is damaged, or from another version of this program or of a library that it computes with.
    """
    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        seal = arrays.pop(SEAL).tobytes()
        if seal != seal_of(arrays):
            raise ValueError("its checksum does not match its content")
        head = json.loads(arrays.pop(HEAD).tobytes())
        known, given = {"format": FORMAT, **versions}, {"format": head["format"], **head["versions"]}
        other = [name for name, value in known.items() if given.get(name) != value]
        if other:  # written by another version: continuing could change digits
            wrong = (f"{name} {given.get(name)} instead of {known[name]}" for name in other)
            raise CommandError(f"{path} was written with {', '.join(wrong)}: {otherwise}")
        tree = restored(head["tree"], arrays, types)
    except CommandError:
        raise
    except Exception as why:  # readers of ZIP, NumPy and JSON raise many types for damage
        raise CommandError(f"{path} is damaged ({' '.join(str(why).split())}): {otherwise}") from why
    assert isinstance(tree, dict)
    return tree


def seal_of(arrays: Mapping[str, np.ndarray]) -> bytes:
    """SHA-256 over names, kinds, shapes and bytes."""
    seal = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        seal.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        seal.update(array.tobytes())
    return seal.digest()


def digest_of(tree: Any) -> str:
    """SHA-256 of a tree, its arrays included."""
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(flattened(tree, arrays))
    return hashlib.sha256(text.encode() + seal_of(arrays)).hexdigest()


def flattened(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A tree as JSON; its arrays are moved into ``arrays``, by number. TypeError: a value that cannot be stored."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        name = str(len(arrays))
        arrays[name] = value
        return {"array": name}
    if isinstance(value, Mapping):
        return {"dict": {str(key): flattened(item, arrays) for key, item in value.items()}}
    if names := names_of(value):
        inside = {name: flattened(getattr(value, name), arrays) for name in names}
        return {"type": type(value).__name__, "fields": inside}
    if isinstance(value, (list, tuple)):
        return [flattened(item, arrays) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be kept")


def names_of(value: Any) -> tuple[str, ...]:
    """Fields of a dataclass or a named tuple; empty for anything else."""
    if is_dataclass(value):
        return tuple(field.name for field in fields(value) if field.init)
    return tuple(getattr(value, "_fields", ()))


def restored(value: Any, arrays: Mapping[str, np.ndarray], types: Mapping[str, type]) -> Any:
    if isinstance(value, list):
        return tuple(restored(item, arrays, types) for item in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "dict" in value:
        return {key: restored(item, arrays, types) for key, item in value["dict"].items()}
    return types[value["type"]](**{name: restored(item, arrays, types) for name, item in value["fields"].items()})


SET = "set "


def parts_of(model: Model) -> dict[str, Any]:
    """Parts of the model that a continued run must not change, under names for messages.
    Mesh, materials and ``PARTS``: everything but steps, amplitudes, time points and where the model came from."""
    mesh = model.mesh
    parts: dict[str, Any] = {"*NODE": (mesh.node_labels, mesh.coordinates), "*ELEMENT": mesh.blocks}
    parts |= {f"{SET}{name}": members for name, members in {**mesh.node_sets, **mesh.element_sets}.items()}
    parts |= {f"*MATERIAL, NAME={name}": material for name, material in model.materials.items()}
    for field, card in PARTS.items():
        value = getattr(model, field)
        value = value if isinstance(value, tuple | dict) else (value,)
        parts[f"*{card}"] = parts[f"*{card}"] + value if f"*{card}" in parts else value
    return parts


def changed_parts(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of parts that differ; sets and unused materials may be added or removed."""
    found = [name for name in before if name in now and before[name] != now[name]]
    fixed = ("*NODE", "*ELEMENT")
    return sorted(found, key=lambda name: (name not in fixed, name))


def digests_of(model: Model) -> dict[str, str]:
    """Digests of the parts of a model that a continued run must not change."""
    return {name: digest_of(part) for name, part in parts_of(model).items()}


def deck_of(model: Model) -> dict[str, Any]:
    """Identity of a deck: its digest, its parameters, the digest of each of its files."""
    folder = Path(os.path.realpath(model.source)).parent
    files = {}
    for file in model.files:
        with contextlib.suppress(OSError, ValueError):
            files[Path(os.path.relpath(file, folder)).as_posix()] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return {"sha256": model.digest, "parameters": dict(model.parameters), "files": files}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Changes of a deck: parameters (``--set``) and files by name."""
    names = [f"<{name}>" for name in differing(before["parameters"], now["parameters"])]
    if before["sha256"] != now["sha256"]:
        names += differing(before["files"], now["files"]) or ["its text"]
    return names


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Names whose values are not the same."""
    return [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
