"""Python text as a tree."""

from __future__ import annotations

import ast
import gc


def parsed(text: str) -> ast.Module:
    """``ast.parse`` while the garbage collector rests.

    CPython 3.11 counts the depth of a tree for all threads together: a collection on the way may hand over to another
    thread that parses, too, and the count no longer fits (SystemError, github.com/python/cpython/issues/106905).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if was_on:
            gc.enable()
