"""Units: the program has none, a heading with the word SI says which they are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fem.model.quantities import ENERGIES, QUANTITIES

SI = {"length": "m", "time": "s", "force": "N", "energy": "J", "mass": "kg"}
FORMULAS = {column: each.unit for table in QUANTITIES.values() for each in table for column in each.columns}
FORMULAS |= dict.fromkeys(ENERGIES, "energy") | {"time": "time", "dt": "time", "frequency": "1/time", "omega": "1/time"}
"""Column of a table -> formula of its unit."""


def says_si(heading: Iterable[str]) -> bool:
    """The program has no units; a heading with the word SI says which they are."""
    return any(re.search(r"\bSI\b", str(line)) for line in heading)


def unit_of(formula: str, is_si: bool) -> str:
    """``length/time`` as such, or with SI symbols."""
    return re.sub(r"[a-z]+", lambda word: SI.get(word[0], word[0]), formula) if is_si else formula


def si_unit(column: str) -> str:
    """Of a column of a table, also of a sweep (``U1_2_end``: U1 of node 2 at the end; ``T_e12_mean``); empty: a pure
    number.
    """
    of_number = re.fullmatch(r"[A-Z]+\d?_[en]\d+_(damage|rate|Tz)", column)
    if of_number:
        return unit_of({"damage": "", "rate": "1/time", "Tz": "time"}[of_number[1]], True)
    name = re.sub(r"_(end|min|max|mean|std|largest)$", "", column)
    return unit_of(FORMULAS.get(name) or FORMULAS.get(re.sub(r"(_[en]?\d+)+$", "", name), ""), True)
