"""The motion a run returns: arrays over the saved increments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.arrays import Columns, Flags, Floats, Ints
from fem.errors import unknown
from fem.model import Model
from fem.model.mesh import Mesh
from fem.model.named import TABLES, labels_of
from fem.model.quantities import (
    ENERGIES,
    NODAL,
    RECORDED,
    Values,
    recorded_values,
    unrecorded,
    values_of,
    with_neighbours,
)
from fem.runs.record import Event, Factors, Modes, Response, Rows, SilentSink
from fem.runs.tables import RESPONSES, response_columns

BALANCED = tuple(ENERGIES)[:-1]
"""Columns of ``History.energy``; the error of their balance stands by itself."""
LEDGER = ("time", "dt", "iterations", "residual_norm", "cutbacks", "energy_error")
COUNTS = ("step", "increment", "iterations", "cutbacks")


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The motion, row by row: the initial state, then the saved increments of all steps.

    step, increment      (k,)       every step begins with increment 0, at the end time of the step before
    time, dt             (k,)       total time; size of the increment
    motion               (k, r, n, 3)  recorded quantities by node index; u, v, a and reactions are views (k, 3n) with
                                    dof = 3 * node index + axis
    iterations, cutbacks (k,)       number of linear solves and of cutbacks of the increment
    residual_norm        (k,)       at the end of the increment
    energy               (k, 5)     columns as ``BALANCED``
    energy_error         (k,)       in energy units
    elements             (k, m, s)  recorded quantities of elements (E, S, N, T), by element index
    model                           the model of the run; mesh: its labels, coordinates X, sets
    modes                           one ``Modes`` per ``*FREQUENCY`` step
    buckling                        one ``Factors`` per ``*BUCKLE`` step
    responses                       one ``Response`` per frequency of ``*STEADY STATE DYNAMICS`` steps
    events                          taut, slack, impact, cutback, snap
    notices                         remarks of the reader and of the run
    load_factor          (k,)       NaN outside RIKS steps
    sea_from                        total time at which ramps of waves begin

    >>> history = fem.run("inputs/sdnl100.inp")
    >>> history.of_node(2)[20].round(4).tolist()
    [-2.0, 0.0, -0.0006]
    >>> history.to_frame("elements")["T"].round(2).max().item()
    32.47
    >>> history.to_xarray().U.sel(node=2, axis=3).min().round(6).item()
    -0.999692
    """

    step: Ints
    increment: Ints
    time: Floats
    dt: Floats
    motion: Floats
    iterations: Ints
    cutbacks: Ints
    residual_norm: Floats
    energy: Floats
    energy_error: Floats
    elements: Floats
    load_factor: Floats
    model: Model
    modes: tuple[Modes, ...] = ()
    buckling: tuple[Factors, ...] = ()
    responses: tuple[Response, ...] = ()
    events: tuple[Event, ...] = ()
    notices: tuple[str, ...] = ()
    sea_from: float = math.inf

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        last = f"to time {self.time[-1]:.8g}, " if len(self) else ""
        counts = ("modes", "buckling", "responses", "events", "notices")
        found = ", ".join(f"{name} {len(getattr(self, name))}" for name in counts if len(getattr(self, name)))
        return (
            f"History of {self.model.source or 'a model'}: {len(self)} rows {last}"
            f"{self.iterations.sum()} iterations, energy error {self.energy_error_text}\n"
            f"  {len(self.mesh.node_labels)} nodes, {len(self.mesh.element_labels)} elements"
            f"{'; ' if found else ''}{found}; of_node(label), of_element(label), table(name)"
        )

    @property
    def energy_error_text(self) -> str:
        """The largest energy error, with its unit where the heading says SI, and its share of the energy exchanged."""
        from fem.runs.frames import energy_error_text, exchanged

        error = np.fmax.reduce(np.abs(self.energy_error)) if len(self) else 0.0
        return energy_error_text(float(error), exchanged(self.step, self.energy), self.model.heading)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from fem.runs.frames import history_html

        modes = [modes.frequency for modes in self.modes]
        return history_html(self.model, self.table("increments"), self.energy_error_text, modes, self.notices)

    @property
    def mesh(self) -> Mesh:
        return self.model.mesh

    @property
    def u(self) -> Floats:
        return self._of_dofs("U")

    @property
    def v(self) -> Floats:
        return self._of_dofs("V")

    @property
    def a(self) -> Floats:
        return self._of_dofs("A")

    @property
    def reactions(self) -> Floats:
        return self._of_dofs("RF")

    def _of_dofs(self, name: str) -> Floats:
        """(k, 3n) a recorded quantity of nodes."""
        values = self.motion[:, [quantity.name for quantity in NODAL].index(name)]
        return values.reshape(len(values), 3 * values.shape[1])

    def of_node(self, label: int, field: str = "u") -> Floats:
        """(k, 3) displacement of a node label; ``field``: another quantity of ``*NODE PRINT``, or reactions.

        KeyError: no such node or field.
        """
        node = self.mesh.nodes_of(int(label))
        nodes = with_neighbours(self.model, node)
        values = self._values(nodes, node[:0])["n"]
        return values["RF" if field == "reactions" else field.upper()][:, int(nodes.searchsorted(node)[0])]

    def of_element(self, label: int, value: str = "N") -> Floats:
        """(k,) N of an element label; ``value``: another quantity of ``*EL PRINT``.

        KeyError: no such element or value.
        """
        element = self.mesh.elements_of(int(label))
        return self._values(np.unique(self.mesh.element_nodes[element]), element)["e"][value.upper()][:, 0]

    @property
    def values(self) -> dict[str, Values]:
        """All quantities by kind, in the format of ``values_of``."""
        return self._values(slice(None), slice(None))

    def _values(self, nodes: Ints | slice, elements: Ints | slice) -> dict[str, Values]:
        motion, of_elements = np.moveaxis(self.motion[:, :, nodes], 1, 0), np.moveaxis(self.elements[:, elements], 2, 0)
        indices, others = (np.arange(len(labels)) for labels in (self.mesh.node_labels, self.mesh.element_labels))
        energies = np.vstack([self.energy.T, self.energy_error])[:, :, None]
        return values_of(
            self.model, indices[nodes], motion, others[elements], of_elements, energies, self.time, self.sea_from
        )

    def of_energy(self, name: str) -> Floats:
        """(k,) kinetic, strain, potential, external_work or dissipated energy. KeyError: no such energy."""
        if name not in BALANCED:
            raise unknown("energy", name, BALANCED)
        return self.energy[:, BALANCED.index(name)]

    def table(self, name: str) -> Columns:
        """``increments``, ``nodes`` or ``elements``: the columns of the CSV file of this name, with every quantity of
        all nodes or elements at the saved increments. ``steady``, ``steady_nodes``, ``steady_elements``: harmonic
        responses, with amplitudes and phases [degrees] for each frequency. KeyError: no such table.
        """
        if name in RESPONSES:
            return response_columns(name, self.responses, self.mesh)
        if name == "increments":
            energies = dict(zip(BALANCED, self.energy.T, strict=True))
            series = {each: getattr(self, each) for each in ("step", "increment", *LEDGER)}
            error = {"energy_error": series.pop("energy_error")}
            is_riks = np.isfinite(self.load_factor).any()
            return Columns(series | energies | error | ({"load_factor": self.load_factor} if is_riks else {}))
        if name not in ("nodes", "elements"):
            raise unknown("table", name, ("increments", "nodes", "elements", *RESPONSES))
        kind = name[0]
        labels, values = labels_of(self.mesh, kind), self.values[kind]
        found = Columns({each: np.repeat(getattr(self, each), len(labels)) for each in ("step", "increment", "time")})
        found[name.removesuffix("s")] = np.tile(labels, len(self))
        for quantity in TABLES[kind]:
            if quantity.name in unrecorded(self.model):
                continue
            parts = values.columns(quantity.name).reshape(len(self) * len(labels), -1)
            found |= dict(zip(quantity.columns, parts.T, strict=True))
        return found

    def to_frame(self, table: str = "increments") -> Any:
        """A ``table`` as ``pandas.DataFrame``; if the heading contains SI, ``attrs["units"]`` has the units.

        CommandError: pandas is not installed (extra ``notebook``). KeyError: no such table.
        """
        from fem.model.quantities import says_si
        from fem.runs.frames import frame_of

        return frame_of(self.table(table), says_si(self.model.heading))

    def to_xarray(self) -> Any:
        """All results as ``xarray.Dataset``: U, V, A, RF over time, node (labels) and axis (1, 2, 3), E, S, N, T over
        time and element, energies and counts over time; with units if the heading contains SI.

        CommandError: xarray is not installed (extra ``notebook``).
        """
        from fem.runs.frames import dataset_of

        return dataset_of(self.model, self.table("increments"), self.motion, self.elements)

    def plot(self, what: str | None = None, **options: Any) -> list[Path]:
        """Draw its figures, or ``what`` of them, which a notebook shows. The options are those of ``fem.plot``."""
        return fem.plot(self, what, **options)

    def of_step(self, step: int) -> Flags:
        """(k,) True for the rows of a step (counted from 1)."""
        return np.equal(self.step, step)

    def positions(self, node: int) -> Floats:
        """(k, 3) current position x = X + u of a node label."""
        return self.mesh.coordinates[self.mesh.nodes_of(int(node))] + self.of_node(node)


class HistorySink(SilentSink):
    """Collects a ``History`` from rows recorded for all nodes and elements.

    ``save_every`` k: increments k, 2k, ..., and always the first and the last of a step, or of the run.
    """

    def __init__(self, model: Model, save_every: int = 1) -> None:
        if save_every < 1:
            raise ValueError(f"output_every is {save_every}; expected 1 or more")
        self._model = model
        self._sizes = len(model.mesh.node_labels), len(model.mesh.element_labels)
        self._every = save_every
        self._parts: dict[str, list[np.ndarray]] = {}
        self._owed: dict[str, np.ndarray] | None = None
        self._modes: list[Modes] = []
        self._factors: list[Factors] = []
        self._responses: list[Response] = []
        self._events: list[Event] = []
        self._notices = list(model.notices)
        self._sea_from = math.inf

    def rows(self, rows: Rows) -> None:
        if (len(rows.nodes), len(rows.elements)) != self._sizes:
            raise ValueError("a History needs all nodes and elements recorded: solve(..., record_all=True)")
        k = len(rows.increment)
        if not k:
            return
        self._sea_from = rows.sea_from
        if rows.increment[0] == 0:
            self._settle()
        keep = rows.increment % self._every == 0
        keep[-1] |= rows.is_end
        self._append(pieces(rows, slice(None) if keep.all() else keep))
        self._owed = None if keep[-1] else pieces(rows, slice(k - 1, k))

    def event(self, event: Event) -> None:
        self._events.append(event)

    def modes(self, modes: Modes) -> None:
        self._modes.append(modes)

    def factors(self, factors: Factors) -> None:
        self._factors.append(factors)

    def response(self, response: Response) -> None:
        self._responses.append(response)

    def notice(self, text: str) -> None:
        if text not in self._notices:
            self._notices.append(text)

    def history(self) -> History:
        """The motion so far, also after a failure."""
        self._settle()
        parts = self._parts
        if not parts:  # empty arrays of the right shapes
            (n, m), count = self._sizes, recorded_values(self._model)
            shapes = {"motion": (RECORDED["NODE"], n, 3), "energy": (len(BALANCED),), "elements": (m, count)}
            parts = {name: [np.zeros(0, np.int64 if name in COUNTS else float)] for name in (*COUNTS, *LEDGER)}
            parts |= {"load_factor": [np.zeros(0)], **{name: [np.zeros((0, *shapes[name]))] for name in shapes}}
        arrays = {name: np.concatenate(as_wide(part) if name == "motion" else part) for name, part in parts.items()}
        return History(
            **arrays,
            model=self._model,
            modes=tuple(self._modes),
            buckling=tuple(self._factors),
            responses=tuple(self._responses),
            events=tuple(self._events),
            notices=tuple(self._notices),
            sea_from=self._sea_from,
        )

    def _append(self, parts: dict[str, np.ndarray]) -> None:
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)

    def _settle(self) -> None:
        """Keeps the last row of a step that has ended early."""
        if self._owed is not None:
            self._append(self._owed)
            self._owed = None


def as_wide(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Motions (k, r, n, 3) with equal r; quantities that a step does not record are zero."""
    widest = max(part.shape[1] for part in parts)
    missing = (((0, 0), (0, widest - part.shape[1]), (0, 0), (0, 0)) for part in parts)
    return [np.pad(part, room) if room[1][1] else part for part, room in zip(parts, missing, strict=True)]


def pieces(rows: Rows, chosen: slice | Flags) -> dict[str, np.ndarray]:
    """Copies of the chosen rows."""
    k = len(rows.increment[chosen])
    factor = np.full(k, np.nan) if rows.load_factor is None else rows.load_factor[chosen]
    found = {
        "step": np.full(k, rows.step),
        "increment": rows.increment[chosen],
        **{name: getattr(rows, name)[chosen] for name in LEDGER},
        "motion": rows.motion[chosen],
        "energy": np.array([getattr(rows, name)[chosen] for name in BALANCED]).T,
        "elements": rows.element_values[chosen],
        "load_factor": factor,
    }
    return {name: part.copy() for name, part in found.items()}
