"""A Dask scheduler and workers on this machine that nobody else can use: every port asks for a secret.

What reaches a port of Dask can run any code as the owner of the process behind it. So connections are encrypted, and
taken only of those that have the key, which is in the memory of these processes alone; servers of pages, which Dask
begins for every scheduler and every worker, and which ask for nothing, are left out.
"""

from __future__ import annotations

import os
from typing import Any

from distributed import Nanny, Scheduler, Security, SpecCluster, Worker

HERE: dict[str, Any] = {"host": "127.0.0.1", "protocol": "tls://"}


class WithoutPages:
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """None."""


class QuietScheduler(WithoutPages, Scheduler):
    pass


class QuietWorker(WithoutPages, Worker):
    pass


def local_cluster(workers: int | None) -> SpecCluster:
    """``workers`` processes of one thread, by default one per processor, and their scheduler, in this process.
    ImportError: cryptography is not installed, without which there is no key."""
    given = HERE | {"security": Security.temporary()}  # type: ignore[no-untyped-call]
    worker = {"cls": Nanny, "options": {**given, "worker_class": QuietWorker, "nthreads": 1, "silence_logs": 50}}
    return SpecCluster(  # type: ignore[no-untyped-call]
        scheduler={"cls": QuietScheduler, "options": {**given, "port": 0, "dashboard": False}},
        workers=dict.fromkeys(range(workers or os.cpu_count() or 1), worker),
        security=given["security"],
        silence_logs=50,
    )
