"""Pictures of the gallery."""

from __future__ import annotations

import contextlib
import io

import fem


def draw(deck: str, what: str, figure: str) -> None:
    """Run a deck of ``inputs`` and show one of its figures, with the commands that draw it."""
    from IPython.display import Image, Markdown, display

    folder = f"results/{deck}"
    with contextlib.redirect_stdout(io.StringIO()):
        fem.run(f"inputs/{deck}.inp", output=folder)
        files = fem.plot(folder, what)
    (path,) = (path for path in files if path.stem == figure)
    lines = (f"python -m fem run inputs/{deck}.inp", f"python -m fem plot {folder} --what {what}")
    display(Markdown("```sh\n" + "\n".join(lines) + "\n```"))
    display(Image(path, width=780))
