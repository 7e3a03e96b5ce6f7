"""The motion a run returns: arrays over the saved increments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.model.mesh import Mesh
from fem.results.record import Event, Modes, Rows, SilentSink

ENERGIES = ("kinetic", "strain", "potential", "external_work", "dissipated")
ELEMENT_VALUES = ("E", "S", "N", "T")
LEDGER = ("time", "dt", "iterations", "residual_norm", "cutbacks", "energy_error")
COUNTS = ("step", "increment", "iterations", "cutbacks")
FIELDS = ("u", "v", "a", "reaction")


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """What happened, row by row: the initial state, then the saved increments of all steps.

    step, increment      (k,)       every step begins with its increment 0, at the time the last one ended
    time, dt             (k,)       total time; size of the increment
    u, v, a, reactions   (k, 3n)    dof = 3 * node index + axis
    iterations, cutbacks (k,)       linear solves and cutbacks of the increment
    residual_norm        (k,)       at the end of the increment
    energy               (k, 5)     columns as ``ENERGIES``
    energy_error         (k,)       in energy units
    elements             (k, m, 4)  columns E, S, N, T, by element index
    mesh                            labels, coordinates X, sets
    modes                           one ``Modes`` per ``*FREQUENCY`` step
    events                          taut, slack, impact, cutback
    notices                         remarks of the reader and of the run
    load_factor          (k,)       NaN outside RIKS steps
    """

    step: Ints
    increment: Ints
    time: Floats
    dt: Floats
    u: Floats
    v: Floats
    a: Floats
    reactions: Floats
    iterations: Ints
    cutbacks: Ints
    residual_norm: Floats
    energy: Floats
    energy_error: Floats
    elements: Floats
    load_factor: Floats
    mesh: Mesh
    modes: tuple[Modes, ...] = ()
    events: tuple[Event, ...] = ()
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def of_node(self, label: int, field: str = "u") -> Floats:
        """(k, 3) displacement of a node label; ``field``: u, v, a or reactions. KeyError: no such node."""
        node = int(self.mesh.nodes_of(int(label))[0])
        values: Floats = getattr(self, field)
        return values[:, 3 * node : 3 * node + 3]

    def of_element(self, label: int, value: str = "N") -> Floats:
        """(k,) E, S, N or T of an element label. KeyError: no such element."""
        element = int(self.mesh.elements_of(int(label))[0])
        return self.elements[:, element, ELEMENT_VALUES.index(value.upper())]

    def of_energy(self, name: str) -> Floats:
        """(k,) one of ``ENERGIES``."""
        return self.energy[:, ENERGIES.index(name)]

    def of_step(self, step: int) -> Flags:
        """(k,) True at the rows of a step (from 1)."""
        return np.equal(self.step, step)

    def positions(self, node: int) -> Floats:
        """(k, 3) current position x = X + u of a node label."""
        return self.mesh.coordinates[self.mesh.nodes_of(int(node))] + self.of_node(node)


class HistorySink(SilentSink):
    """Collects a ``History`` from rows recorded for all nodes and elements.

    ``save_every`` k: increments k, 2k, ..., and always the first and the last of a step, or of the run.
    """

    def __init__(self, mesh: Mesh, save_every: int = 1, notices: tuple[str, ...] = ()) -> None:
        if save_every < 1:
            raise ValueError(f"output_every is {save_every}; it has to be 1 or more")
        self._mesh = mesh
        self._every = save_every
        self._parts: dict[str, list[np.ndarray]] = {}
        self._owed: dict[str, np.ndarray] | None = None
        self._modes: list[Modes] = []
        self._events: list[Event] = []
        self._notices = list(notices)

    def rows(self, rows: Rows) -> None:
        if len(rows.nodes) != len(self._mesh.node_labels) or len(rows.elements) != len(self._mesh.element_labels):
            raise ValueError("a History needs all nodes and elements recorded: solve(..., record_all=True)")
        k = len(rows.increment)
        if not k:
            return
        if rows.increment[0] == 0:
            self._settle()
        keep = rows.increment % self._every == 0
        keep[-1] |= rows.is_end
        self._append(pieces(rows, np.nonzero(keep)[0]))
        self._owed = None if keep[-1] else pieces(rows, np.array([k - 1]))

    def event(self, event: Event) -> None:
        self._events.append(event)

    def modes(self, modes: Modes) -> None:
        self._modes.append(modes)

    def notice(self, text: str) -> None:
        if text not in self._notices:
            self._notices.append(text)

    def history(self) -> History:
        """The motion so far, also after a failure."""
        self._settle()
        arrays = {name: np.concatenate(parts) for name, parts in (self._parts or self._nothing()).items()}
        arrays["reactions"] = arrays.pop("reaction")
        return History(
            **arrays,
            mesh=self._mesh,
            modes=tuple(self._modes),
            events=tuple(self._events),
            notices=tuple(self._notices),
        )

    def _nothing(self) -> dict[str, list[np.ndarray]]:
        """No rows, in the right shapes."""
        n, m = len(self._mesh.node_labels), len(self._mesh.element_labels)
        counts = {name: [np.zeros(0, np.int64)] for name in COUNTS}
        series = {name: [np.zeros(0)] for name in (*LEDGER, "load_factor") if name not in COUNTS}
        motion = {name: [np.zeros((0, 3 * n))] for name in FIELDS}
        return {**counts, **series, **motion, "energy": [np.zeros((0, 5))], "elements": [np.zeros((0, m, 4))]}

    def _append(self, parts: dict[str, np.ndarray]) -> None:
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)

    def _settle(self) -> None:
        """Keep the last row of a step that ended without saying so."""
        if self._owed is not None:
            self._append(self._owed)
            self._owed = None


def pieces(rows: Rows, chosen: Ints) -> dict[str, np.ndarray]:
    """Copies of the chosen rows, flattened to dofs."""
    k = len(chosen)
    factor = np.full(k, np.nan) if rows.load_factor is None else rows.load_factor[chosen]
    return {
        "step": np.full(k, rows.step),
        "increment": rows.increment[chosen],
        **{name: getattr(rows, name)[chosen] for name in LEDGER},
        **{name: getattr(rows, name)[chosen].reshape(k, 3 * len(rows.nodes)) for name in FIELDS},
        "energy": np.stack([getattr(rows, name)[chosen] for name in ENERGIES], axis=1),
        "elements": rows.element_values[chosen],
        "load_factor": factor,
    }
