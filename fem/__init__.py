"""Cable-and-bar dynamics: an Abaqus/CalculiX-style deck in, the nonlinear motion out.

>>> import fem
>>> history = fem.run("inputs/sdnl100.inp")
>>> history.iterations[[10, 20, 40]].tolist()
[9, 5, 6]

Names are looked up when first used, so that ``import fem`` and ``fem --help`` load nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.3.0"

_WHERE = {
    "CommandError": "fem.errors",
    "DeckError": "fem.errors",
    "EnergyDrift": "fem.errors",
    "FemError": "fem.errors",
    "ModelError": "fem.errors",
    "NoConvergence": "fem.errors",
    "Problem": "fem.errors",
    "History": "fem.runs.history",
    "Model": "fem.model",
    "read_deck": "fem.deck",
    "parse_deck": "fem.deck",
    "write_deck": "fem.deck",
    "Builder": "fem.deck.builder",
    "run": "fem.runner",
    "stepper": "fem.driven",
    "prepare": "fem.runner",
    "export_fmu": "fem.fmu",
    "export_deck": "fem.codes.export",
    "compare": "fem.codes.compare",
    "load": "fem.runs.read",
    "frequencies": "fem.runner",
    "converge": "fem.study.certainty.converge",
    "error_bars": "fem.study.certainty.error_bars",
    "Sweep": "fem.study.sweep",
    "sweep": "fem.study.sweep",
    "Record": "fem.study.row",
    "lyapunov": "fem.study.exponents",
    "sections": "fem.study.sections",
    "basins": "fem.study.basins",
    "continuation": "fem.study.continuation",
    "orbits": "fem.study.branches",
    "fit": "fem.study.fit",
    "check": "fem.checking",
    "pendulum": "fem.tools.pendulums",
    "line": "fem.tools.spans",
    "sag_tension": "fem.tools.sagging",
    "line_section": "fem.tools.line_sections",
    "clamp_stress": "fem.tools.vibration",
    "plot": "fem.show.plot",
    "animate": "fem.show.animate",
    "report": "fem.show.report",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'fem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
