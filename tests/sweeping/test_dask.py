"""Sweeps on a real Dask scheduler with two workers on loopback, where workers or the scheduler die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fem
from fem.cli import main
from fem.study.table import SweepTable
from tests.sweeping.swings import write_swing
from tests.waiting import wait_for

distributed = pytest.importorskip("distributed")
ROOT = Path(__file__).resolve().parents[2]
POINTS, INCLUDED = 24, "gravity = 9.81"


def kill_at_first_rows(monkeypatch: pytest.MonkeyPatch, victims: list[subprocess.Popen[bytes]], seconds: int) -> None:
    """As soon as something has been computed; from then on the cluster has so long to answer."""
    add = SweepTable.add

    def add_and_kill(table: SweepTable, answers: Any) -> None:
        add(table, answers)
        if not table.finished:  # all workers are busy, and that is all
            return
        monkeypatch.setattr(SweepTable, "add", add)
        monkeypatch.setattr("fem.study.cluster.ANSWER_SECONDS", seconds)  # not before: the workers have to start
        for process in victims:
            process.kill()
            process.wait()

    monkeypatch.setattr(SweepTable, "add", add_and_kill)


class Cluster:
    """A scheduler and workers in a folder without the deck; processes that a test has left serve the next one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.workers = folder, list[subprocess.Popen[bytes]]()
        file = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        self.address: str = json.loads(file.read_text())["address"]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def with_workers(self, count: int) -> list[subprocess.Popen[bytes]]:
        """So many that live."""
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) < count:
            self.workers.append(self.start("worker", self.address, "--nthreads", "1", "--no-nanny"))
        return self.workers

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Its scheduler is killed by the last test that asks for it."""
    running = Cluster(tmp_path_factory.mktemp("elsewhere"))
    yield running
    running.end()


@pytest.mark.long
def test_a_client_of_the_caller_is_used_and_stays_open(cluster, tmp_path):
    cluster.with_workers(2)
    deck, grid = write_swing(tmp_path), {"length": [1.0, 1.5, 2.0]}
    with distributed.Client(cluster.address) as client:
        found = fem.sweep(deck, grid, scheduler=client)
        assert client.status == "running" and not found.failed.any()
        with pytest.raises(fem.CommandError, match="decides the number of workers"):
            fem.sweep(deck, grid, scheduler=client, workers=2)
    here = fem.sweep(deck, grid)
    assert all(found[name].tolist() == here[name].tolist() for name in here)
    with pytest.raises(fem.CommandError, match="an address or a Client of Dask"):
        fem.sweep(deck, grid, scheduler=7)


@pytest.mark.skipif(os.name == "nt", reason="kills a process at once")
@pytest.mark.long
def test_a_sweep_survives_the_loss_of_a_worker(tmp_path, monkeypatch, cluster):
    monkeypatch.chdir(tmp_path)
    deck = write_swing(tmp_path, INCLUDED, "*INCLUDE, INPUT=gravity.inc")
    (tmp_path / "gravity.inc").write_text(f"*PARAMETER\n{INCLUDED}\n")
    grid = {"end": [100.0 + point for point in range(POINTS)]}
    expected = fem.sweep(deck, grid, output="here", workers=1)
    first, _ = cluster.with_workers(2)
    kill_at_first_rows(monkeypatch, [first], 300)
    found = fem.sweep(deck, grid, output="there", scheduler=cluster.address)
    assert first.returncode == -signal.SIGKILL
    assert found["point"].tolist() == list(range(1, POINTS + 1)) and not found.failed.any()
    assert (tmp_path / "there" / "sweep.csv").read_bytes() == (tmp_path / "here" / "sweep.csv").read_bytes()
    assert found["U1_2_end"].tolist() == expected["U1_2_end"].tolist()


@pytest.mark.long  # it waits for two time-outs
@pytest.mark.skipif(os.name == "nt", reason="kills a process at once")
@pytest.mark.parametrize(("victims", "message"), [("workers", "has had no workers for"), ("scheduler", "is gone")])
def test_a_sweep_whose_cluster_is_gone_says_so_and_goes_on_here(
    tmp_path, monkeypatch, capfd, cluster, victims, message
):
    """Even where the client cannot be closed, as it does so by itself just then."""
    monkeypatch.chdir(tmp_path)
    write_swing(tmp_path)
    workers, client, close = cluster.with_workers(1), distributed.Client, distributed.Client.close

    def close_too_late(client: Any, *arguments: Any, **named: Any) -> None:
        close(client, *arguments, **named)
        raise RuntimeError("Cannot change state of expiring Timeout")

    monkeypatch.setattr(client, "close", close_too_late)
    # which looks for a lost scheduler as long as it may take to find one at first
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout=min(timeout, 5)))
    path = tmp_path / "there" / "sweep.csv"
    kill_at_first_rows(monkeypatch, [cluster.scheduler] if victims == "scheduler" else workers, 2)
    command = ["sweep", "swing.inp", "--vary", f"end=400:800:{POINTS}", "--quiet", "--output"]
    assert main([*command, "there", "--scheduler", cluster.address]) == 1
    errors = capfd.readouterr().err
    assert (
        errors.startswith(f"fem: error: the Dask scheduler at {cluster.address} {message}") and errors.count("\n") == 1
    )
    assert 1 < path.read_bytes().count(b"\n") <= POINTS
    for folder in ("there", "here"):
        assert main([*command, folder, "--workers", "1"]) == 0
    assert path.read_bytes() == (tmp_path / "here" / "sweep.csv").read_bytes()


@pytest.mark.long
def test_a_scheduler_that_is_not_there_is_exit_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fem.study.cluster.ANSWER_SECONDS", 0.2)
    write_swing(tmp_path)
    assert main(["sweep", "swing.inp", "--vary", "length=1,2", "--scheduler", "tcp://127.0.0.1:9", "--quiet"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
