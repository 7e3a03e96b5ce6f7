"""Twenty damaged caches, caches of other users, one that may only be read, a full disk, four first starts at once.

Every run has to end well, with the bytes of an undisturbed one, and nothing of another user's is run: what is planted
bears right seals and would end the process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.reliability.full import has_namespaces
from benchmarks.reliability.trial import ROOT, Trial, command, environment
from fem.compiled.folder import cache_folder
from fem.compiled.store import Unit, seal, sealed, unsealed

DECK = ROOT / "inputs" / "sdnl100.inp"
SMALL, LARGE = "write_lines", "march_march"
"""Units that the run calls: one that takes a second to make again, one that takes ten."""
NOBODY = 65534
FOREIGN, OPEN = "of another user", "writable by others"


def run(work: Path, is_short: bool) -> Iterator[Trial]:
    """All trials; the short ones compile next to nothing."""
    subprocess.run(command("warmup"), env=environment(), check=True, capture_output=True, timeout=600)
    good = work / "good"
    shutil.copytree(cache_folder(), good / cache_folder().name)
    started(work, "whole", good)
    damages = dict(list(DAMAGES.items())[:: 10 if is_short else 1])
    for name, damage in damages.items():
        yield damaged(work, name, damage, SMALL)
    yield foreign(work, FOREIGN if os.getuid() == 0 else OPEN)
    if is_short:
        return
    for name in ("a bit of code", "another unit"):
        yield damaged(work, name, DAMAGES[name], LARGE)
    yield foreign(work, OPEN)
    yield temporary(work)
    if has_namespaces():
        yield mounted(work, "may only be read", "mount --bind cache cache && mount -o remount,ro,bind cache", 0)
        yield mounted(work, "full disk", "rm -r cache/* && mount -t tmpfs -o size=100k tmpfs cache", 1)
    yield four_at_once(work)


# -------------------------------------------------------------------------------------------------------------- running
def started(work: Path, output: str, cache: Path, before: tuple[str, ...] = (), **variables: str) -> tuple[str, str]:
    """A run with a cache; how it ended, and what it said."""
    place = {"FEM_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(work / "home"), **variables}
    words = [*before, *command("run", DECK, "--output", output, "--quiet")]
    done = subprocess.run(
        words, cwd=work, env={**environment(), **place}, capture_output=True, text=True, timeout=600, check=False
    )
    return f"exit code {done.returncode}", done.stderr


def judged(work: Path, kind: str, end: str, said: str, notes: int) -> Trial:
    """Of a run into ``work/out``: it ended well, said so many notes, and wrote what the undisturbed one wrote."""
    trial = Trial(kind, end)
    if end != "exit code 0" or "Traceback" in said:
        trial.faults.append(f"{end}: {said.strip()[-200:]}")
    if said.count("note: ") != notes:
        trial.faults.append(f"{notes} notes expected: {said.strip()[-300:]}")
    if answers(work / "whole") != answers(work / "out"):
        trial.faults.append("the answers are others")
    return trial


def answers(folder: Path) -> dict[str, bytes]:
    """All files of a run but its record, which names times and versions."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "run.json"}


def fresh(work: Path, name: str = "cache") -> Path:
    """A whole cache, as after ``fem warmup``, and no answers yet."""
    for old in (name, "out"):
        shutil.rmtree(work / old, ignore_errors=True)
    shutil.copytree(work / "good", work / name)
    return work / name


def units_of(cache: Path, part: str) -> list[Path]:
    """The units of a function: one for each kind of its arguments."""
    return sorted(cache.glob(f"kernels-*/*{part}_[0-9a-f]*.unit"))


# ------------------------------------------------------------------------------------------------------------- damaging
def changed(old: bytes, new: bytes) -> Callable[[Path], None]:
    """Other bytes in the head."""
    return lambda path: _write(path, path.read_bytes().replace(old, new, 1))


def flipped(share: float) -> Callable[[Path], None]:
    """One bit."""

    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(share * (len(content) - 1))] ^= 0x10
        _write(path, bytes(content))

    return flip


def instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Something else than a file."""

    def put(path: Path) -> None:
        path.unlink()
        make(path)

    return put


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _deep(path: Path) -> None:
    rest = b'{"symbol":' + b"[" * 200_000 + b"\n"
    _write(path, seal(rest, path.parent.name).encode() + b"\n" + rest)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "a bit of code": flipped(0.5),
    "the last bit": flipped(1.0),
    "a bit of the seal": flipped(0.0),
    "cut": lambda path: _write(path, path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: _write(path, b""),
    "zeros": lambda path: _write(path, bytes(path.stat().st_size)),
    "noise": lambda path: _write(path, os.urandom(path.stat().st_size)),
    "longer": lambda path: _write(path, path.read_bytes() + b"\0"),
    "other results": changed(b'"result": "', b'"result": "d'),
    "other name": changed(b'"symbol": "fem_', b'"symbol": "fam_'),
    "calls what does not exist": changed(b'"others": [', b'"others": ["no_such_function"'),
    "no seal": lambda path: _write(path, path.read_bytes().partition(b"\n")[2]),
    "deep head": _deep,
    "another unit": lambda path: _write(path, units_of(path.parents[1], "solve_with_border")[0].read_bytes()),
    "pipe": instead(os.mkfifo),
    "folder": instead(Path.mkdir),
    "link to nowhere": instead(lambda path: path.symlink_to("nowhere")),
    "link to /dev/zero": instead(lambda path: path.symlink_to("/dev/zero")),
    "gone": Path.unlink,
    "writable by others": lambda path: path.chmod(0o666),
}


def damaged(work: Path, name: str, damage: Callable[[Path], None], part: str) -> Trial:
    """A run with damaged units of a function, of which it heals the one that it calls."""
    cache = fresh(work)
    for unit in units_of(cache, part):
        damage(unit)
    trial = judged(work, f"damage: {name}", *started(work, "out", cache), notes=0)
    found = [symbol_of(unit) for unit in units_of(cache, part)]
    if not any(symbol.startswith("fem_") for symbol in found):
        trial.faults.append(f"not healed: {', '.join(found)}")
    return trial


def symbol_of(unit: Path) -> str:
    """What a unit defines, or why it cannot be loaded."""
    try:
        return str(unsealed(unit.read_bytes(), unit.parent.name).symbol)
    except (OSError, ValueError) as error:
        return str(error)


# ---------------------------------------------------------------------------------------------------------- other users
def plant(cache: Path, owner: str) -> None:
    """Make every unit one that ends the process, with a right seal, in a folder that others may have written."""
    for path in cache.glob("kernels-*/*.unit"):
        unit: Unit = unsealed(path.read_bytes(), path.parent.name)
        path.write_bytes(sealed(replace(unit, code=b"not code")))
        if owner == FOREIGN:
            os.chown(path, NOBODY, NOBODY)
    for folder in cache.glob("kernels-*"):
        if owner == FOREIGN:
            os.chown(folder, NOBODY, NOBODY)
        else:
            folder.chmod(0o777)


def foreign(work: Path, owner: str) -> Trial:
    """A planted cache where the user's should be; the user has a good one at home."""
    cache = fresh(work)
    plant(cache, owner)
    fresh(work, "home").rename(work / "fem")
    (work / "home").mkdir()
    (work / "fem").rename(work / "home" / "fem")
    trial = judged(work, f"cache {owner}", *started(work, "out", cache), notes=1)
    shutil.rmtree(work / "home")
    return trial


def temporary(work: Path) -> Trial:
    """Nowhere to keep anything, and a planted cache under the name that the temporary folder once had."""
    shared = work / "shared"
    shared.mkdir()
    shutil.copytree(work / "good", shared / f"fem-{os.getuid()}")
    plant(shared / f"fem-{os.getuid()}", FOREIGN if os.getuid() == 0 else OPEN)
    shutil.rmtree(work / "out", ignore_errors=True)
    (work / "home").touch()
    end, said = started(work, "out", work / "home", TMPDIR=str(shared))
    (work / "home").unlink()
    trial = judged(work, "planted in /tmp", end, said, notes=1)
    left = sorted(path.name for path in shared.iterdir())
    if left != [f"fem-{os.getuid()}"]:
        trial.faults.append(f"left in the temporary folder: {left}")
    return trial


def mounted(work: Path, kind: str, mount: str, notes: int) -> Trial:
    """A cache on a file system of its own, that nobody else sees."""
    cache = fresh(work)
    before = ("unshare", "-m", "--propagation", "private", "sh", "-c", f'{mount} && exec "$@"', "sh")
    (work / "home").touch()
    trial = judged(work, f"cache {kind}", *started(work, "out", cache, before), notes=notes)
    (work / "home").unlink()
    return trial


def four_at_once(work: Path) -> Trial:
    """Four first starts: one compiles, three say that they wait."""
    cache = fresh(work)
    shutil.rmtree(cache)
    place = {**environment(), "FEM_CACHE_DIR": str(cache)}
    names = [f"out{number}" for number in range(4)]
    runs = [
        subprocess.Popen(
            command("run", DECK, "--output", name, "--quiet"), cwd=work, env=place, stderr=subprocess.PIPE, text=True
        )
        for name in names
    ]
    said = [run.communicate(timeout=600)[1] for run in runs]
    (work / names[0]).rename(work / "out")
    trial = judged(work, "four first starts", f"exit code {max(run.returncode for run in runs)}", "".join(said), 3)
    return trial
