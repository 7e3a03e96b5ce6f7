"""``python -m fem``."""

from __future__ import annotations

import signal
from collections.abc import Sequence

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # before anything has begun Ctrl-C ends without a traceback

from fem import cli
from fem.commands.signals import SIGNALS, end_with_parent


def main(arguments: Sequence[str] | None = None) -> int:
    """The process: once a command is done, no signal changes its answer."""
    end_with_parent()
    code = cli.main(arguments)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
