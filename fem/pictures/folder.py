"""A folder of results: checked, then open for reading."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.errors import CommandError
from fem.files.names import mark_of
from fem.model.quantities import ENERGIES
from fem.pictures.columns import KEY, Table
from fem.pictures.fields import FieldMesh, read_list, read_mesh
from fem.results.acting import Acting, from_record
from fem.results.frames.units import says_si, unit_of
from fem.results.run_record import COMPLETED, RUN_RECORD, RUNNING, stem_of

LEAST_INSTANTS = 3
"""A curve needs at least so many points."""


class Missing(Exception):
    """A figure cannot be drawn from these results; the text says why and what to request."""


@dataclass(frozen=True, eq=False)
class Results:
    """The files of one run.

    folder  where they are
    record  ``run.json``
    """

    folder: Path
    record: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the deck without its ending."""
        return stem_of(str(self.record["deck"]["file"]))

    @property
    def mark(self) -> str:
        """What pictures of these results bear."""
        return mark_of(str(self.record["deck"]["file"]))

    @property
    def deck(self) -> Path:
        """The file that ran, where it was: it may be gone since, or have changed."""
        return self.folder / str(self.record.get("deck_folder", ".")) / str(self.record["deck"]["file"])

    @property
    def heading(self) -> str:
        lines = self.settings.get("heading") or [self.name]
        return str(lines[0])

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.record.get("settings", {})
        return found

    @cached_property
    def is_si(self) -> bool:
        """The heading says which units there are."""
        return says_si(self.settings.get("heading") or [])

    def unit(self, formula: str) -> str:
        """As ``unit_of``."""
        return unit_of(formula, self.is_si)

    def symbol(self, formula: str) -> str:
        """Of a unit where the heading says which there are, else nothing."""
        return self.unit(formula) if self.is_si else ""

    @property
    def remark(self) -> str:
        """How the run ended, where it is not complete."""
        verdict = str(self.record.get("verdict", RUNNING))
        if verdict == COMPLETED:
            return ""
        ended = "is still going on, or was killed" if verdict == RUNNING else f"ended early ({verdict})"
        return f"the run {ended}; what it has written is drawn"

    @cached_property
    def gravity(self) -> Floats | None:
        """Unit direction of the first GRAV load; None without one."""
        for step in self.settings.get("steps", []):
            for load in step.get("gravity", []):
                size = float(np.linalg.norm(load))
                if size > 0.0:
                    return np.asarray(load, float) / size
        return None

    @cached_property
    def acting(self) -> dict[int, Acting]:
        """Step -> what acts in it, of the steps whose record has it."""
        records = {step: record for step, record in enumerate(self.record.get("acting", []), start=1) if record}
        found = {step: from_record(record, len(self.mesh.node_labels)) for step, record in records.items()}
        if not found:
            raise Missing("run.json does not hold what acts on the model: request *NODE PRINT of A of all nodes")
        return found

    @cached_property
    def nodes(self) -> Table:
        return Table(self.folder / "nodes.csv")

    @cached_property
    def elements(self) -> Table:
        return Table(self.folder / "elements.csv")

    @cached_property
    def fields(self) -> list[tuple[float, Path]]:
        """Times and files of the fields, in order."""
        return read_list(self.folder / f"{self.name}.pvd")

    @cached_property
    def mesh(self) -> FieldMesh:
        """From the first field. Missing: there are none."""
        if not self.fields:
            raise Missing("the mesh is in the fields (vtu/), and there are none: run the deck without --no-vtk")
        return read_mesh(self.fields[0][1])

    @cached_property
    def increments(self) -> Floats:
        """(increments, 11): step, increment, time, iterations, residual_norm, five energies, energy_error."""
        names, table = (*KEY, "iterations", "residual_norm", *ENERGIES), Table(self.folder / "increments.csv")
        if lost := set(names) - set(table.columns):
            raise Missing(f"increments.csv has no {', '.join(sorted(lost))}")
        rows = table.read(names)
        if not len(rows):
            raise Missing("increments.csv has no increments (a frequency step has none)")
        return rows

    @cached_property
    def boundaries(self) -> Floats:
        """Total times at which a later step begins."""
        try:
            step, time = self.increments[:, 0], self.increments[:, 2]
        except Missing:
            return np.zeros(0)
        return time[1:][np.diff(step) > 0]


def open_results(folder: Path) -> Results:
    """The results in a folder. CommandError: there are none."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder" if folder.exists() else f"{folder} does not exist")
    path = folder / RUN_RECORD
    if not path.is_file():
        raise CommandError(f"{folder} holds no results of a run: there is no {RUN_RECORD} in it")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        results = Results(folder, record)
        results.name  # noqa: B018 - a record of another program has none
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CommandError(f"{path} cannot be read as the record of a run: {error}") from None
    return results
