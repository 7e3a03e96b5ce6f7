"""Dask clusters (extra ``dask``): the only module that knows ``distributed``."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import fem
from fem.errors import CommandError
from fem.sweeping.workers import without_main

LOCAL = "local"
ANSWER_SECONDS = 30
"""How long a scheduler may take to answer and to show its first worker."""
RETRIES = 3


@contextmanager
def connected(scheduler: str, workers: int | None) -> Iterator[tuple[Executor, int]]:
    """An executor on a cluster, and the number of its threads; ``workers`` is for a ``local`` one.

    CommandError: distributed is not installed, nobody answers, or the workers have another version of fem.
    """
    if scheduler != LOCAL and "://" not in scheduler:
        raise CommandError(f"--scheduler takes local or an address such as tcp://host:8786, not {scheduler!r}")
    if scheduler != LOCAL and workers is not None:
        raise CommandError(f"the cluster at {scheduler} has the workers it has: leave --workers out")
    try:
        import distributed
    except ImportError:
        raise CommandError('--scheduler needs Dask: pip install "fem[dask]"') from None
    with without_main():
        cluster: Any = scheduler
        if scheduler == LOCAL:
            cluster = distributed.LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
            )
        try:
            client: Any = distributed.Client(cluster, timeout=ANSWER_SECONDS)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TimeoutError) as error:
            raise CommandError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    try:
        yield client.get_executor(pure=False, retries=RETRIES), checked_threads(client, scheduler)
    finally:
        client.close()
        if scheduler == LOCAL:
            cluster.close()


def checked_threads(client: Any, scheduler: str) -> int:
    """How many blocks the cluster computes at once, all by this version of fem."""
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
    """The version on a worker."""
    return fem.__version__
