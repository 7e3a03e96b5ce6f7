"""One writer at a time: refused while another one lives, taken over when it is dead, gone afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fem
from fem.cli import main
from fem.commands import files as lock
from fem.commands.files import LOCK, FolderLock
from fem.errors import CommandError
from tests.files.test_own import DECK

HOLDER = "import sys, time\nfrom pathlib import Path\nfrom fem.commands.files import FolderLock\n"
HOLDER += "held = FolderLock(Path(sys.argv[1]))\nheld.acquire()\nprint('held', flush=True)\ntime.sleep(600)\n"


def other_process(folder: Path) -> subprocess.Popen[str]:
    """A process that has the lock of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(Path(fem.__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_a_living_process_is_named_and_a_dead_one_inherited(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        with pytest.raises(
            CommandError, match=rf"is being written by another run \(process {process.pid} on .*, since"
        ):
            FolderLock(tmp_path).acquire()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / LOCK).exists()
    mine = FolderLock(tmp_path)
    mine.acquire()
    assert json.loads((tmp_path / LOCK).read_bytes().split(b"\n")[0])["pid"] == os.getpid()
    mine.release()
    assert not list(tmp_path.iterdir())


def test_two_of_one_process_and_again_after_release(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path), FolderLock(tmp_path)
    first.acquire()
    with pytest.raises(CommandError, match="another run"):
        second.acquire()
    first.release()
    second.acquire()
    first.release()  # not its own any more
    with pytest.raises(CommandError, match="another run"):
        first.acquire()
    second.release()


def test_other_hosts_and_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / LOCK
    for content, message in (
        (json.dumps({"pid": 1, "host": "elsewhere", "start": "then"}), "remove"),
        ("mine", "not a lock"),
    ):
        path.write_text(content)
        with pytest.raises(CommandError, match=message):
            FolderLock(tmp_path).acquire()
        assert path.read_text() == content
    path.unlink()
    (tmp_path / "precious").write_text("mine")
    path.symlink_to(tmp_path / "precious")
    with pytest.raises(OSError):
        FolderLock(tmp_path).acquire()
    assert (tmp_path / "precious").read_text() == "mine"


def test_where_files_cannot_be_locked_the_process_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(*_: object) -> None:
        raise OSError(lock.CANNOT[0], "no locks")

    monkeypatch.setattr("fcntl.flock", cannot)
    with other_process(tmp_path) as process:
        with pytest.raises(CommandError, match="another run"):
            FolderLock(tmp_path).acquire()
        process.kill()
        process.wait()
    FolderLock(tmp_path).acquire()


@pytest.mark.parametrize(
    "command",
    [
        ["run", "swing.inp"],
        ["sweep", "swing.inp", "--vary", "g=1,2"],
        ["lyapunov", "swing.inp"],
        ["lyapunov", "swing.inp", "--vary", "g=1,2"],
        ["sections", "swing.inp", "--period", "0.01"],
        ["validate", "axial_bar"],
    ],
)
def test_every_command_asks_for_the_lock(command, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swing.inp").write_text(DECK)
    Path("out").mkdir()
    held = FolderLock(Path("out"))
    held.acquire()
    before = {path.name for path in Path("out").iterdir()}
    for force in ([], ["--force"]):
        assert main([*command, "--output", "out", *force]) == 2
        assert f"process {os.getpid()} on" in capsys.readouterr().err
    assert {path.name for path in Path("out").iterdir()} == before
    held.release()
    assert not list(Path("out").iterdir())


def test_a_failed_start_leaves_no_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swing.inp").write_text(DECK)
    assert main(["lyapunov", "swing.inp", "--output", "new"]) == 2  # too short
    assert not Path("new").exists()
