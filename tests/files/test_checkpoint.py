"""The file a run goes on from: what is put in comes out bit by bit, and nothing that is damaged is believed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem.errors import CommandError
from fem.runs.checkpoint import FORMAT, read_checkpoint, write_checkpoint


@dataclass(frozen=True)
class Thing:
    name: str
    values: Any


class Pair(NamedTuple):
    first: Any
    second: Any


TYPES = {"Thing": Thing, "Pair": Pair}
VERSIONS = {"fem": "1", "numpy": "2"}
TREE = {"a": Thing("x", np.arange(12.0).reshape(3, 4)), "b": (1, 2.5, None, True, Pair(np.zeros(0), "\udce9"))}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats().map(lambda x: x if x == x else float("nan"))
    | st.text()
)
ARRAYS = st.builds(
    np.array, st.lists(st.floats().map(lambda x: x if x == x else float("nan")), max_size=4)
) | st.builds(np.int64, st.integers(-9, 9))
TREES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.builds(Thing, st.text(), inner)
        | st.builds(Pair, inner, inner)
    ),
)


def same(one: Any, other: Any) -> bool:
    """Equal in kind and bits, NaN included; NumPy's scalars have become Python's."""
    if isinstance(one, np.generic):
        one = one.item()
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.copysign(1.0, one) == math.copysign(1.0, other) and (one == other or one != one)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Thing):
        return one.name == other.name and same(one.values, other.values)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@given(tree=TREES)
@settings(max_examples=25)
def test_what_is_written_is_read(tree: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("kept") / "checkpoint.npz"
    write_checkpoint(path, {"tree": tree}, VERSIONS)
    assert same({"tree": tree}, read_checkpoint(path, VERSIONS, TYPES))


def test_equal_states_give_equal_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "other")]
    for path in paths:
        write_checkpoint(path, TREE, VERSIONS)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_damage_is_found_wherever_it_is(tmp_path: Path) -> None:
    """Each bit of a sample of bytes; what still reads is what was written (some bits of a ZIP mean nothing)."""
    path = tmp_path / "checkpoint.npz"
    write_checkpoint(path, TREE, VERSIONS)
    content, refused = path.read_bytes(), 0
    for at in range(0, len(content), 3):
        path.write_bytes(content[:at] + bytes([content[at] ^ (1 << at % 8)]) + content[at + 1 :])
        try:
            assert same(read_checkpoint(path, VERSIONS, TYPES), TREE)
        except CommandError as error:
            assert str(path) in str(error) and "start without --continue" in str(error)
            refused += 1
    assert refused > len(content) / 9


def test_arrays_of_another_file_are_refused(tmp_path: Path) -> None:
    """The file is whole, by ZIP's own sums, too: only the seal tells that its parts do not belong together."""
    path = tmp_path / "checkpoint.npz"
    write_checkpoint(path, {"u": np.zeros(3), "v": np.ones(3)}, VERSIONS)
    with np.load(path) as found:
        arrays = dict(found)
    for changed in ({"0": arrays["1"]}, {"0": arrays["0"] + 1e-300}, {"0": arrays["0"][:2]}):
        np.savez(path, **{**arrays, **changed})
        with pytest.raises(CommandError, match="its checksum does not match"):
            read_checkpoint(path, VERSIONS, TYPES)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_half_a_file_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "checkpoint.npz"
    write_checkpoint(path, TREE, VERSIONS)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(CommandError, match="is damaged"):
        read_checkpoint(path, VERSIONS, TYPES)


def test_nothing_in_it_is_executed(tmp_path: Path) -> None:
    """An object array is a pickle, which may call anything; a type that nobody handed in is not made."""
    path, gone = tmp_path / "checkpoint.npz", tmp_path / "called"

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (gone,))

    np.savez(path.open("wb"), head=np.array([Evil()], object), seal=np.zeros(32, np.uint8))
    with pytest.raises(CommandError, match="is damaged"):
        read_checkpoint(path, VERSIONS, TYPES)
    assert not gone.exists()
    write_checkpoint(path, TREE, VERSIONS)
    with pytest.raises(CommandError, match="is damaged"):
        read_checkpoint(path, VERSIONS, {"Pair": Pair})


def test_other_versions_are_named(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    write_checkpoint(path, TREE, {**VERSIONS, "numpy": "1.9"})
    with pytest.raises(CommandError, match=r"was written with numpy 1\.9 instead of 2: start without --continue"):
        read_checkpoint(path, VERSIONS, TYPES)


def test_other_formats_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "checkpoint.npz"
    monkeypatch.setattr("fem.runs.checkpoint.FORMAT", FORMAT + 1)
    write_checkpoint(path, TREE, VERSIONS)
    monkeypatch.undo()
    with pytest.raises(CommandError, match=f"format {FORMAT + 1} instead of {FORMAT}"):
        read_checkpoint(path, VERSIONS, TYPES)


def test_what_cannot_be_kept_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="set cannot be kept"):
        write_checkpoint(tmp_path / "checkpoint.npz", {"a": {1}}, VERSIONS)
