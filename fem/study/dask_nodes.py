"""A Dask scheduler and workers on this machine that no other user can access: every port requires a secret.

Whoever connects to a port of Dask can run any code with the rights of its process. Therefore connections are encrypted,
and accepted only with a key that exists in the memory of these processes only. The web servers that Dask starts for
every scheduler and worker, without authentication, are omitted.
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
    """``workers`` processes with one thread each, by default one per processor, and their scheduler, in this process.
    ImportError: cryptography, which makes the key, is not installed."""
    given = HERE | {"security": Security.temporary()}  # type: ignore[no-untyped-call]
    worker = {"cls": Nanny, "options": {**given, "worker_class": QuietWorker, "nthreads": 1, "silence_logs": 50}}
    return SpecCluster(  # type: ignore[no-untyped-call]
        scheduler={"cls": QuietScheduler, "options": {**given, "port": 0, "dashboard": False}},
        workers=dict.fromkeys(range(workers or os.cpu_count() or 1), worker),
        security=given["security"],
        silence_logs=50,
    )
