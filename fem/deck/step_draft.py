"""A step while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fem.deck.lexical.source import Place
from fem.model import Boundary, Controls, DistributedLoad, FluidLoad, NodalLoad, OutputRequest, Temperature, Winch
from fem.model.steps import Procedure


class Given(NamedTuple):
    """One ``*OUTPUT``: what follows begins as ``request``, of kind FILE or PRINT; ``bare``: nothing followed yet."""

    request: OutputRequest
    bare: bool


@dataclass(slots=True)
class StepDraft:
    """Everything between ``*STEP`` and ``*END STEP``."""

    place: Place
    nlgeom: bool
    name: str | None = None
    title: tuple[str, ...] = ()
    max_increments: int | None = None
    extrapolation: str | None = None
    amplitude: str | None = None
    perturbation: Place | None = None
    procedure: Procedure | None = None
    procedure_place: Place | None = None
    blamed: bool = False
    controls: Controls | None = None
    replaced: set[str] = field(default_factory=set)
    changed: dict[str, Place] = field(default_factory=dict)
    boundaries: list[tuple[Boundary, Place]] = field(default_factory=list)
    rotations: list[Boundary] = field(default_factory=list)
    nodal_loads: list[NodalLoad] = field(default_factory=list)
    distributed_loads: list[DistributedLoad] = field(default_factory=list)
    fluid_loads: list[tuple[FluidLoad, Place]] = field(default_factory=list)
    temperatures: list[Temperature] = field(default_factory=list)
    removals: list[tuple[str | int, Place]] = field(default_factory=list)
    winches: list[tuple[Winch, Place]] = field(default_factory=list)
    shed: list[tuple[str, Place]] = field(default_factory=list)
    put: list[tuple[str, Place]] = field(default_factory=list)
    outputs: list[OutputRequest] = field(default_factory=list)
    output: Given | None = None
