"""Sphinx: ``sphinx-build docs results/docs`` builds the site and executes its tutorials, without any network."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))  # of the tutorials

from docs.notebooks import TUTORIALS, with_link, write_notebooks  # noqa: E402
from docs.validated import cases  # noqa: E402
from fem import __version__  # noqa: E402

project, author, release = "fem", "the authors of fem", __version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"fem {__version__}"
html_show_sphinx = html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300  # of a cell, which may have to compile kernels first
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_render_markdown_format = "myst"
nb_output_stderr = "remove"  # where kernels are compiled, a line says so
nb_code_prompt_show = "Show the deck"
nb_code_prompt_hide = "Hide the deck"
nb_execution_in_temp = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"

WRITTEN = {
    "validation": ("<!-- the cases -->", cases),
}
"""Page -> the mark in it that gives way to a text, and what writes it."""


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Put in what is written from the program."""
    if page in WRITTEN:
        mark, write = WRITTEN[page]
        source[0] = source[0].replace(mark, write())
    elif (path := Path(app.srcdir) / f"{page}.md") in TUTORIALS:
        source[0] = with_link(path, source[0])


def finish(app: Sphinx, error: Exception | None) -> None:
    """Notebooks to download, beside the pages."""
    if error is None:
        write_notebooks(Path(app.outdir) / "notebooks")


def inline_formula(self: Any, node: Any) -> None:
    """As MathML, which browsers show without any script."""
    self.body.append(tex2mathml(node.astext()))
    raise SkipNode


def display_formula(self: Any, node: Any) -> None:
    """Likewise, on a line of its own."""
    self.body.append(tex2mathml(node.astext(), as_block=True))
    raise SkipNode


def as_written(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings of the program are aligned by hand: below their first sentence they are shown as they are."""
    first = next((at for at, line in enumerate(lines) if not line), len(lines))
    rest = "\n".join(lines[first:]).strip("\n").replace("``", "")
    text, mark, example = rest.partition(">>> ")
    lines[first:] = ["", *block("text", text), *block("pycon", mark + example)]


def block(language: str, text: str) -> list[str]:
    """Lines of a code block; none without text."""
    lines = dedent(text).strip("\n").splitlines()
    return [f".. code-block:: {language}", "", *(f"   {line}" for line in lines), ""] if lines else []


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", fill)
    app.connect("build-finished", finish)
    app.connect("autodoc-process-docstring", as_written)
    app.add_html_math_renderer("mathml", (inline_formula, None), (display_formula, None))
