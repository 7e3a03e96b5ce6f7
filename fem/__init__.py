"""Cable-and-bar dynamics: an Abaqus/CalculiX-style deck in, the nonlinear motion out.

>>> import fem
>>> history = fem.run("inputs/sdnl100.inp")
>>> history.iterations[[10, 20, 40]].tolist()
[9, 5, 6]

Names are looked up when first used, so that ``import fem`` and ``fem --help`` load nothing heavy. Type checkers and
editors find them in ``__init__.pyi``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.3.0"

_NAMES = {
    "fem.errors": "CommandError DeckError EnergyDrift FemError ModelError NoConvergence Problem",
    "fem.runs.history": "History",
    "fem.model": "Model",
    "fem.deck": "read_deck parse_deck write_deck",
    "fem.deck.builder": "Builder",
    "fem.runner": "run prepare frequencies",
    "fem.driven": "stepper",
    "fem.codes.fmu": "export_fmu",
    "fem.codes.export": "export_deck",
    "fem.codes.compare": "compare",
    "fem.runs.read": "load",
    "fem.study.certainty.converge": "converge",
    "fem.study.certainty.error_bars": "error_bars",
    "fem.study.sensitivity.derivatives": "gradient sensitivity",
    "fem.study.sweep": "Sweep sweep",
    "fem.study.files": "basins",
    "fem.study.row": "Record",
    "fem.study.exponents": "lyapunov",
    "fem.study.sections": "sections",
    "fem.study.continuation": "continuation",
    "fem.study.branches": "orbits",
    "fem.study.fit": "fit",
    "fem.study.rigidity": "rigidity",
    "fem.study.mooring": "mooring",
    "fem.study.additions": "register",
    "fem.show.checking": "check",
    "fem.lines.pendulums": "pendulum",
    "fem.lines.spans": "line",
    "fem.lines.sagging": "sag_tension",
    "fem.lines.line_sections": "line_section",
    "fem.lines.vibration": "clamp_stress",
    "fem.show.plot": "plot",
    "fem.show.animate": "animate",
    "fem.show.report": "report",
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'fem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
