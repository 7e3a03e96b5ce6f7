"""``python -m fem``."""

from __future__ import annotations

from fem.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
