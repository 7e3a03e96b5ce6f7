"""The public names, for type checkers and editors; ``__init__.py`` looks them up."""

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
from fem.study.mooring import mooring as mooring
from fem.study.rigidity import rigidity as rigidity
from fem.study.row import Record as Record
from fem.study.sections import sections as sections
from fem.study.sensitivity.derivatives import gradient as gradient
from fem.study.sensitivity.derivatives import sensitivity as sensitivity
from fem.study.sweep import Sweep as Sweep
from fem.study.sweep import sweep as sweep

__version__: str
__all__: list[str]
