"""Machine code on disk is run only where nobody but the user could have written it, and only as it was written."""

from __future__ import annotations

import ast
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem import errors as notices
from fem.commands import files
from fem.compiled import folder, store
from fem.compiled.store import Unit, find, keep, seal, sealed, unsealed
from tests.trees import parsed

ROOT = Path(__file__).resolve().parents[2]
UNIT = Unit("fem_some_kernel_0123", "dq?", (), "[]", ("sin", "cos"), "00", bytes(range(256)) * 3)
OTHER = Unit("fem_other_kernel_4567", "d", ("fem_some_kernel_0123",), '[["some", ["float"]]]', (), "01", b"other code")


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home without any cache; nothing is known, nothing was said. Units are ours, whoever compiles the tests."""
    monkeypatch.setenv("FEM_COMPILER", "")
    monkeypatch.setenv("FEM_CACHE_DIR", str(tmp_path / "chosen"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(store, "_made", {})
    monkeypatch.setattr(notices, "_told", set())
    folder.cache_folder.cache_clear()
    yield tmp_path
    folder.cache_folder.cache_clear()


def on_disk(unit: Unit) -> Path:
    """The file of a unit that is known no other way."""
    keep(unit, on_disk=True)
    store._made.clear()
    return folder.cache_folder() / f"{unit.symbol}.unit"


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file or folder that of another user: truly where this process may, else by another name of ours."""
    if os.getuid() == 0:
        os.chown(path, 65534, 65534)
    else:
        own = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: own + 1)


# ------------------------------------------------------------------------------------------------------ what is written
def test_a_unit_is_found_as_it_was_kept(fresh: Path) -> None:
    path = on_disk(UNIT)
    assert find(UNIT.symbol) == UNIT
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.cache_folder().stat().st_mode & 0o777 == 0o700
    assert (
        (folder.cache_folder() / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    )


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_any_changed_byte_is_seen(place: int, change: int) -> None:
    content = bytearray(sealed(UNIT))
    content[place % len(content)] ^= change
    with pytest.raises(ValueError):
        unsealed(bytes(content), folder.cache_folder().name)


@given(st.integers(0, 10**6))
def test_any_cut_is_seen(length: int) -> None:
    content = sealed(UNIT)
    with pytest.raises(ValueError):
        unsealed(content[: length % len(content)], folder.cache_folder().name)


def write(content: bytes):
    return lambda path: path.write_bytes(content)


def sealed_head(head: str) -> bytes:
    """A head that nobody of ours writes, with a seal that is right."""
    rest = head.encode() + b"\ncode"
    return seal(rest, folder.cache_folder().name).encode() + b"\n" + rest


def replaced_by(make):
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def linked(path: Path) -> None:
    moved = path.with_suffix(".moved")
    path.rename(moved)
    path.symlink_to(moved)


def a_socket(path: Path) -> None:
    path.unlink()
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
    os.chdir(here)


DAMAGES = {
    "empty": write(b""),
    "zeros": write(bytes(4096)),
    "no head": write(b"\n\n"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "code changed": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
    "result letters changed": lambda path: path.write_bytes(path.read_bytes().replace(b'"dq?"', b'"qd?"')),
    "name changed": lambda path: path.write_bytes(path.read_bytes().replace(b"fem_some", b"fem_Some")),
    "calls nothing": lambda path: path.write_bytes(path.read_bytes().replace(b'["sin", "cos"]', b"[]")),
    "head and code of before": lambda path: path.write_bytes(path.read_bytes().partition(b"\n")[2]),
    "another unit": lambda path: path.write_bytes(sealed(OTHER)),
    "deep head": lambda path: path.write_bytes(sealed_head('{"symbol":' + "[" * 100_000)),
    "head is a list": lambda path: path.write_bytes(sealed_head("[1, 2]")),
    "head is a number": lambda path: path.write_bytes(sealed_head("7")),
    "head lacks a name": lambda path: path.write_bytes(sealed_head(json.dumps({"symbol": UNIT.symbol}))),
    "head of wrong types": lambda path: path.write_bytes(
        sealed_head(json.dumps({"symbol": UNIT.symbol, "result": 7, "needs": 3, "others": None}))
    ),
    "pipe": replaced_by(os.mkfifo),
    "folder": replaced_by(Path.mkdir),
    "link": linked,
    "link to nowhere": replaced_by(lambda path: path.symlink_to("nowhere")),
    "link to itself": replaced_by(lambda path: path.symlink_to(path.name)),
    "socket": a_socket,
    "writable by the group": lambda path: path.chmod(0o620),
    "writable by all": lambda path: path.chmod(0o602),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_unit_is_as_none_and_is_healed(fresh: Path, damage: str) -> None:
    path = on_disk(UNIT)
    DAMAGES[damage](path)
    assert find(UNIT.symbol) is None
    keep(UNIT, on_disk=True)
    store._made.clear()
    assert find(UNIT.symbol) == UNIT
    assert not [each for each in path.parent.iterdir() if each.name.startswith("tmp")]


def test_a_unit_of_another_version_is_as_none(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = on_disk(UNIT).read_bytes()
    monkeypatch.setenv("NUMBA_OPT", "1")
    folder.cache_folder.cache_clear()
    on_disk(UNIT).write_bytes(content)
    assert find(UNIT.symbol) is None


def test_a_unit_of_another_user_is_not_run(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(on_disk(UNIT), monkeypatch)
    assert find(UNIT.symbol) is None


def test_a_folder_with_something_in_it_stays_and_is_named(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = on_disk(UNIT)
    path.unlink()
    (path / "of the user").mkdir(parents=True)
    keep(UNIT, on_disk=True)
    assert find(UNIT.symbol) == UNIT and (path / "of the user").is_dir()
    assert "cannot be stored" in capsys.readouterr().err


def test_a_full_disk_is_said_once(fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    folder.cache_folder()
    monkeypatch.setattr(store, "write_file", full)
    for unit in (UNIT, OTHER):
        keep(unit, on_disk=True)
        assert find(unit.symbol) == unit
    said = capsys.readouterr().err
    assert said.count("No space left on device") == 1 and "every start compiles it again" in said


def test_what_cannot_be_written_whole_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.unit"
    path.write_bytes(b"before")
    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError):
        files.write_file(path, b"after")
    assert [each.name for each in tmp_path.iterdir()] == ["a.unit"] and path.read_bytes() == b"before"


# -------------------------------------------------------------------------------------------------------- where it lies
def kernels() -> str:
    return f"kernels-{folder.source_key()}"


def test_the_folder_asked_for_comes_first_then_the_users(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder.cache_folder() == fresh / "chosen" / kernels()
    monkeypatch.delenv("FEM_CACHE_DIR")
    folder.cache_folder.cache_clear()
    assert folder.cache_folder() == fresh / "home" / "fem" / kernels()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o720])
def test_a_folder_that_others_may_write_is_not_used(fresh: Path, mode: int, capsys: pytest.CaptureFixture[str]) -> None:
    bad = fresh / "chosen" / kernels()
    bad.mkdir(parents=True)
    bad.chmod(mode)
    (bad / folder.WARM).touch()
    assert folder.cache_folder() == fresh / "home" / "fem" / kernels()
    assert str(bad) in capsys.readouterr().err
    assert os.environ["FEM_CACHE_DIR"] == str(fresh / "home" / "fem")  # processes of ours do the same


def test_a_folder_of_another_user_is_not_used(fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    on_disk(UNIT)
    bad = folder.cache_folder()
    (bad / folder.WARM).touch()
    give_away(bad, monkeypatch)
    folder.cache_folder.cache_clear()
    assert folder.cache_folder() != bad
    assert "another user" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["link", "file", "pipe"])
def test_what_is_no_folder_is_not_used(fresh: Path, kind: str) -> None:
    bad = fresh / "chosen" / kernels()
    bad.parent.mkdir()
    {"link": lambda: bad.symlink_to(fresh), "file": bad.touch, "pipe": lambda: os.mkfifo(bad)}[kind]()
    assert folder.cache_folder() == fresh / "home" / "fem" / kernels()


def test_a_folder_of_root_is_used(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where root alone may write nobody else has written; here the user is another one than the folder's root."""
    if os.getuid() != 0:
        pytest.skip("only root can make folders of root")
    on_disk(UNIT)
    made = folder.cache_folder()
    (made / folder.WARM).touch()
    folder.cache_folder.cache_clear()
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert folder.cache_folder() == made and find(UNIT.symbol) == UNIT


@pytest.mark.parametrize("complete", [True, False])
def test_a_folder_that_may_only_be_read_is_used_when_complete(fresh: Path, complete: bool, monkeypatch) -> None:
    on_disk(UNIT)
    made = folder.cache_folder()
    if complete:
        (made / folder.WARM).touch()
    folder.cache_folder.cache_clear()
    monkeypatch.setattr(folder, "_is_writable", lambda path: path != made)
    assert (folder.cache_folder() == made) == complete


def test_where_there_is_none_a_private_one_is_made(fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name in ("chosen", "home"):
        (fresh / name).touch()  # nothing can be made below a file
    monkeypatch.setattr(folder.tempfile, "tempdir", str(fresh))
    made: list = []
    monkeypatch.setattr(folder.atexit, "register", made.append)
    path = on_disk(UNIT)
    base = path.parents[1]
    assert base.parent == fresh and base.stat().st_mode & 0o777 == 0o700
    assert path.is_file() and os.environ["FEM_CACHE_DIR"] == str(base)
    assert "set FEM_CACHE_DIR" in capsys.readouterr().err
    made[0]()
    assert not base.exists()


def test_where_there_is_no_room_at_all_code_stays_in_memory(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("chosen", "home"):
        (fresh / name).touch()
    monkeypatch.setattr(folder.tempfile, "tempdir", str(fresh / "nowhere"))
    keep(UNIT, on_disk=True)
    assert find(UNIT.symbol) == UNIT and not folder.cache_folder().exists()
    assert folder.is_first_start()


def test_only_old_caches_of_ours_are_deleted(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = folder.cache_folder().parent
    names = ("old", "unmarked", "another mark", "foreign", "recent", "a file", "linked")
    for name in names[:-2]:
        folder.make_cache(base / f"kernels-{name}")
        (base / f"kernels-{name}" / "some.unit").touch()
    (base / "kernels-unmarked" / folder.MARK).unlink()
    (base / "kernels-another mark" / folder.MARK).write_text(
        "Signature: 8a477f597d28d172789f06886806bc55\n# of another\n"
    )
    (base / "kernels-a file").touch()
    (base / "kernels-linked").symlink_to(base / "kernels-recent")
    then = time.time() - 86_400.0 * 31.0
    for name in names:
        if name != "recent":
            os.utime(base / f"kernels-{name}", (then, then), follow_symlinks=False)
    if os.getuid() == 0:
        os.chown(base / "kernels-foreign", 65534, 65534)
    else:
        shutil.rmtree(base / "kernels-foreign" / folder.MARK, ignore_errors=True)
        (base / "kernels-foreign").chmod(0o777)
    folder.mark_warm()
    left = {path.name.removeprefix("kernels-") for path in base.iterdir()}
    assert left == {*names, folder.cache_folder().name.removeprefix("kernels-")} - {"old"}


def test_the_sign_of_a_complete_cache_is_healed(fresh: Path) -> None:
    sign = folder.cache_folder() / folder.WARM
    for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")):
        make(sign)
        assert folder.is_first_start()
        folder.mark_warm()
        assert not folder.is_first_start() and sign.is_file()
        sign.unlink()


# -------------------------------------------------------------------------------------------------------- what it is of
@pytest.mark.parametrize("name", ["CPU_NAME", "CPU_FEATURES", "OPT", "LOOP_VECTORIZE", "BOUNDSCHECK", "NEVER_HEARD_OF"])
def test_settings_of_numba_that_may_change_code_change_the_key(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = folder.source_key()
    monkeypatch.setenv(f"NUMBA_{name}", "1")
    assert folder.source_key() != before


@pytest.mark.parametrize("name", ["NUM_THREADS", "CACHE_DIR", "THREADING_LAYER", "THREADING_LAYER_PRIORITY"])
def test_settings_of_numba_that_leave_code_as_it_is_do_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = folder.source_key()
    monkeypatch.setenv(f"NUMBA_{name}", "1")
    assert folder.source_key() == before


def test_settings_in_the_current_folder_change_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = folder.source_key()
    Path(".numba_config.yaml").write_text("opt: 0\n")
    assert folder.source_key() != before


@pytest.mark.parametrize("what", ["numba_version", "llvm", "cpu", "features"])
def test_versions_and_the_processor_change_the_key(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = folder.source_key()
    binding = folder.llvmlite.binding
    if what == "numba_version":
        monkeypatch.setattr(folder, "numba_version", lambda: "0.0")
    elif what == "llvm":
        monkeypatch.setattr(binding, "llvm_version_info", (0, 0, 0))
    elif what == "cpu":
        monkeypatch.setattr(binding, "get_host_cpu_name", lambda: "6502")
    else:
        none = type(binding.get_host_cpu_features())()
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: none)
    assert folder.source_key() != before


KERNELS = {"kernel", "shared_kernel", "inner_kernel", "called_kernel", "single_kernel", "number_kernel", "exact_kernel"}


def kernels_in(tree: ast.Module) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and KERNELS & {getattr(each, "id", "") for each in node.decorator_list}
    ]


def test_every_file_with_a_kernel_is_in_the_key() -> None:
    """And every file of ours that a kernel takes a name from: constants become part of the code, types do not."""
    hashed, found = {*folder.kernel_files(), ROOT / "fem" / "arrays.py"}, 0
    for path in (ROOT / "fem").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not any(f"@{name}" in text for name in KERNELS):
            continue
        tree = parsed(text)
        functions = kernels_in(tree)
        found += len(functions)
        assert path in hashed or not functions, f"{path} holds kernels that the cache does not know"
        parts = [part for function in functions for part in function.body]
        used = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fem."):
                origin = ROOT.joinpath(*node.module.split("."))
                file = origin / "__init__.py" if origin.is_dir() else origin.with_suffix(".py")
                names = {alias.asname or alias.name for alias in node.names} & used
                assert file in hashed or not names, f"{path}: {sorted(names)} of {file} are part of kernels"
    assert found > 100


@pytest.mark.parametrize(("days", "is_old"), [(29, False), (31, True)])
def test_code_of_other_versions_is_kept_for_a_month(tmp_path: Path, days: int, is_old: bool) -> None:
    """After its last use; what does not bear our mark is never old."""
    ours, other = tmp_path / "kernels-1", tmp_path / "kernels-2"
    for one in (ours, other):
        one.mkdir(mode=0o700)
    (ours / folder.MARK).write_bytes(folder.MARK_TEXT)
    (ours / folder.MARK).chmod(0o600)
    for one in (ours, other):
        os.utime(one, (time.time() - 86_400 * days,) * 2)
    assert (folder.is_old_cache(ours), folder.is_old_cache(other)) == (is_old, False)
