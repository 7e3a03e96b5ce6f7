"""Cable-and-bar dynamics: an Abaqus/CalculiX-style deck in, the nonlinear motion out.

>>> import fem
>>> history = fem.run("inputs/sdnl100.inp")
>>> history.iterations[[10, 20, 40]].tolist()
[9, 5, 6]

Names are looked up when first used, so that ``import fem`` and ``fem --help`` load nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers: the names of the table, which a test compares
    from fem.codes.compare import compare as compare
    from fem.codes.export import export_deck as export_deck
    from fem.codes.fmu import export_fmu as export_fmu
    from fem.deck import parse_deck as parse_deck
    from fem.deck import read_deck as read_deck
    from fem.deck import write_deck as write_deck
    from fem.deck.builder import Builder as Builder
    from fem.driven import stepper as stepper
    from fem.errors import CommandError as CommandError
    from fem.errors import DeckError as DeckError
    from fem.errors import EnergyDrift as EnergyDrift
    from fem.errors import FemError as FemError
    from fem.errors import ModelError as ModelError
    from fem.errors import NoConvergence as NoConvergence
    from fem.errors import Problem as Problem
    from fem.lines.line_sections import line_section as line_section
    from fem.lines.pendulums import pendulum as pendulum
    from fem.lines.sagging import sag_tension as sag_tension
    from fem.lines.spans import line as line
    from fem.lines.vibration import clamp_stress as clamp_stress
    from fem.model import Model as Model
    from fem.runner import frequencies as frequencies
    from fem.runner import prepare as prepare
    from fem.runner import run as run
    from fem.runs.history import History as History
    from fem.runs.read import load as load
    from fem.show.animate import animate as animate
    from fem.show.checking import check as check
    from fem.show.plot import plot as plot
    from fem.show.report import report as report
    from fem.study.additions import register as register
    from fem.study.branches import orbits as orbits
    from fem.study.certainty.converge import converge as converge
    from fem.study.certainty.error_bars import error_bars as error_bars
    from fem.study.continuation import continuation as continuation
    from fem.study.exponents import lyapunov as lyapunov
    from fem.study.files import basins as basins
    from fem.study.fit import fit as fit
    from fem.study.row import Record as Record
    from fem.study.sections import sections as sections
    from fem.study.sweep import Sweep as Sweep
    from fem.study.sweep import sweep as sweep

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
    "fem.study.sweep": "Sweep sweep",
    "fem.study.files": "basins",
    "fem.study.row": "Record",
    "fem.study.exponents": "lyapunov",
    "fem.study.sections": "sections",
    "fem.study.continuation": "continuation",
    "fem.study.branches": "orbits",
    "fem.study.fit": "fit",
    "fem.study.rigidity": "rigidity",
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


if not TYPE_CHECKING:  # to a type checker, any name would be there

    def __getattr__(name: str) -> Any:
        if name in _WHERE:
            return getattr(import_module(_WHERE[name]), name)
        raise AttributeError(f"module 'fem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
