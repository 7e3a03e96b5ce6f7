"""Dask clusters (extra ``dask``): only this module and ``dask_nodes`` know ``distributed``."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import fem
from fem.errors import CommandError, FemError, lacks
from fem.study import workers as sharing
from fem.study.lanes.run import can_run_in_lanes
from fem.study.question import Answer, Job, models_of
from fem.study.table import CONTINUES

LOCAL = "local"
ANSWER_SECONDS = 30
"""Time within which a scheduler must answer and have a worker."""
LOOK_SECONDS = 1.0
"""Time between two checks of the cluster."""
RETRIES = 3


class Cluster:
    """Workers of a Dask scheduler, which assigns the blocks of a lost worker to another."""

    def __init__(self, client: Any, address: str) -> None:
        self.client, self.address = client, address
        self.capacity = 2 * checked_threads(client, address)
        self.pending: dict[Any, sharing.Block] = {}
        self.seen = time.monotonic()

    def submit(self, block: sharing.Block) -> None:
        self.pending[self.client.submit(sharing.Block.solve, block, pure=False, retries=RETRIES)] = block

    def collect(self) -> list[tuple[sharing.Block, sharing.Outcome]]:
        """Answers of blocks that have ended; FemError as in ``look``."""
        import distributed

        while not (ended := [future for future in self.pending if future.done()]):
            self.look()
            with suppress(TimeoutError, distributed.CancelledError):
                distributed.wait(list(self.pending), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
        return [(self.pending.pop(future), self.outcome(future)) for future in ended]

    def outcome(self, future: Any) -> sharing.Outcome:
        """Result of a block that has ended."""
        if future.status == "finished":
            try:
                answers: list[Answer] = future.result(timeout=ANSWER_SECONDS)
                return answers
            except Exception as error:  # its worker was lost
                self.look()
                return sharing.lost_by(error)
        self.look()
        is_error = future.status == "error"
        return sharing.lost_by(future.exception(timeout=ANSWER_SECONDS)) if is_error else str(future.status)

    def look(self) -> None:
        """FemError: the scheduler is gone, or has had no workers for ``ANSWER_SECONDS``."""
        try:
            is_served = self.client.status == "running" and self.client.nthreads()
        except (OSError, RuntimeError):
            is_served = False
        if self.client.status != "running":
            raise FemError(
                f"the Dask scheduler at {self.address} is gone; finished parameter sets are kept; {CONTINUES}"
            )
        now = time.monotonic()
        if is_served:
            self.seen = now
        elif now - self.seen > ANSWER_SECONDS:
            lonely = f"the Dask scheduler at {self.address} has had no workers for {ANSWER_SECONDS} seconds"
            raise FemError(f"{lonely}; finished parameter sets are kept; {CONTINUES}")


def on_dask(line: sharing.JobQueue, workers: int | None, scheduler: Any) -> Iterator[list[Answer]]:
    """On a Dask cluster: ``local`` starts one here, ``tls://host:port`` or ``tcp://...`` joins one that runs; a
    ``Client`` of the caller is used as it is, and stays open.
    The scheduler computes the blocks of a lost worker again elsewhere."""
    first, model = yield from sharing.first_readable(line)
    if first is not None and model is not None:
        with connected(scheduler, workers) as (team, count):
            line.put_back(1)
            seconds, left = sharing.likely_seconds(model), len(line)
            in_lanes = left >= sharing.FEWEST and not can_run_in_lanes(model)
            pays = in_lanes and sharing.is_worth_compiling(model, seconds * left, count)
            decks = ReadHere(line)
            work = sharing.blocks(iter(decks), left, count, seconds)
            for answers in sharing.spread(team, (sharing.Block(part, in_lanes, pays) for part in work)):
                yield decks.checked(answers)
            yield decks.checked([])


class ReadHere:
    """Jobs whose decks are read in this process, because workers have no files."""

    def __init__(self, jobs: Iterator[Job]) -> None:
        self.jobs, self.unread, self.misfits = jobs, list[Answer](), set[int]()

    def __iter__(self) -> Iterator[Job]:
        for job in self.jobs:
            if (model := models_of([job]).get(job.point)) is None:
                self.unread.append(job.solve())
                continue
            if not job.question.fits(model):
                self.misfits.add(job.point)
            yield replace(job, source=model)

    def checked(self, answers: list[Answer]) -> list[Answer]:
        """Answers of workers, and of decks that could not be read."""
        unread, self.unread = self.unread, []
        return [*(answer._replace(fits=answer.point not in self.misfits) for answer in answers), *unread]


@contextmanager
def connected(scheduler: Any, workers: int | None) -> Iterator[tuple[Cluster, int]]:
    """A team on a cluster, and the number of its threads; ``workers`` is for a ``local`` one.
    CommandError: distributed is not installed, no scheduler answers, or the workers have another version of fem."""
    if not isinstance(scheduler, str):
        if workers is not None or not hasattr(scheduler, "submit"):
            what = "the cluster of a client decides the number of workers" if workers else f"got {scheduler!r}"
            raise CommandError(f"scheduler= takes local, an address or a Client of Dask: {what}")
        team = Cluster(scheduler, str(scheduler.scheduler.address))
        yield team, team.capacity // 2
        return
    if scheduler != LOCAL and "://" not in scheduler:
        raise CommandError(f"--scheduler takes local or an address such as tls://host:8786, not {scheduler!r}")
    if scheduler != LOCAL and workers is not None:
        raise CommandError(f"the cluster at {scheduler} decides the number of workers: remove --workers")
    try:
        import distributed
    except ImportError:
        raise CommandError(f"--scheduler needs Dask: {lacks('distributed', 'dask')}") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)  # it logs lost connections as tracebacks
    with sharing.without_main():
        cluster: Any = scheduler
        if scheduler == LOCAL:
            cluster = started(workers)
        try:
            client: Any = distributed.Client(cluster, timeout=ANSWER_SECONDS)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TypeError, RuntimeError) as error:  # a time-out; without a certificate
            raise CommandError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    try:
        team = Cluster(client, scheduler)
        yield team, team.capacity // 2
    finally:
        with suppress(OSError, RuntimeError):  # it may be closing after the loss of its scheduler
            client.close()
        if scheduler == LOCAL:
            cluster.close()


def started(workers: int | None) -> Any:
    """``local_cluster``. CommandError: it cannot be protected from other users."""
    from fem.study.dask_nodes import local_cluster

    try:
        return local_cluster(workers)
    except ImportError:
        raise CommandError(f"--scheduler local needs a key: {lacks('cryptography', 'dask')}") from None


def checked_threads(client: Any, scheduler: str) -> int:
    """Number of blocks that the cluster computes at once, all with this version of fem."""
    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except TimeoutError as error:
        raise CommandError(f"the Dask scheduler at {scheduler} has no workers") from error
    try:
        found = set(client.run(version_here).values())
    except ImportError as error:
        raise CommandError(f"the workers of {scheduler} do not have fem installed: {error}") from error
    if found != {fem.__version__}:
        raise CommandError(f"the workers of {scheduler} have fem {', '.join(sorted(found))}, not {fem.__version__}")
    return int(sum(client.nthreads().values()))


def version_here() -> str:
    return fem.__version__
