"""What decides the peak tension of a line that snaps taut: its internal damping, mass rule, contacts and time scheme,
changed one at a time.

A front of tension on a line without internal damping leaves behind it oscillations on every mesh, whose peaks have no
limit (docs/peaks.md): with BETA the front has a width of its own, and a mesh that is finer than that shows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fem.arrays import Columns
from fem.model import Dynamic, Model
from fem.model.facts import natural_lengths
from fem.model.notices import damps_waves
from fem.runs.run_record import COMPLETED
from fem.study.certainty.companions import Companions, Motion, answered
from fem.study.certainty.error_bars import bars_from
from fem.study.question import Job
from fem.study.tracks import places_of

DAMPING = 0.3
"""BETA over L0/c, as ``fem line`` writes it: the part of critical damping of one bar."""


def undamped(model: Model) -> dict[str, float]:
    """Materials of elastic lines that can go slack and have no internal damping, and the BETA of 0.3 L0/c for each."""
    return {name: beta for name, beta in slack_lines(model).items() if not model.materials[name].beta}


def slack_lines(model: Model) -> dict[str, float]:
    """Materials of elastic lines that can go slack in a dynamic step, and the BETA of 0.3 L0/c for each."""
    if not any(isinstance(step.procedure, Dynamic) for step in model.steps):
        return {}
    length = natural_lengths(model.mesh, model.rest_lengths)
    found: dict[str, float] = {}
    for section in model.sections:
        material = model.materials[section.material]
        its = length[model.mesh.element_sets[section.element_set]]
        is_elastic = bool(material.young) and not material.is_inextensible and material.density > 0.0
        if is_elastic and material.compression_ratio < 1.0 and len(its):
            passing = np.median(its) * math.sqrt(material.density / (material.young or 1.0))
            found[material.name] = min(found.get(material.name, math.inf), float(f"{DAMPING * float(passing):.3g}"))
    return found


def damped_model(model: Model, betas: Mapping[str, float]) -> Model:
    """The model with internal damping of these materials."""
    changed = {name: replace(model.materials[name], beta=beta) for name, beta in betas.items()}
    return replace(model, materials=dict(model.materials) | changed)


def variants(model: Model) -> dict[str, Model]:
    """What it is called -> the model with that one thing changed."""
    beta = {name: model.materials[name].beta for name in slack_lines(model)}
    found: dict[str, Model] = {}
    for factor in (0.0, 0.5, 2.0):
        if any(beta.values()):
            found[f"BETA x {factor:g}"] = damped_model(model, {name: factor * each for name, each in beta.items()})
    for rule in ("LUMPED", "CONSISTENT"):
        if any(section.mass_rule != rule for section in model.sections):
            sections = tuple(replace(section, mass_rule=rule) for section in model.sections)
            found[f"MASS={rule}"] = replace(model, sections=sections)

    def with_bed(**factors: float) -> Model:
        beds = (replace(bed, **{k: f * getattr(bed, k) for k, f in factors.items()}) for bed in model.seabeds)
        return replace(model, seabeds=tuple(beds))

    for text, name, factor in (
        ("stiffness of the seabed x 0.5", "stiffness", 0.5),
        ("stiffness of the seabed x 2", "stiffness", 2.0),
        ("damping of the seabed x 0", "damping", 0.0),
        ("damping of the seabed x 2", "damping", 2.0),
    ):
        if any(getattr(bed, name) for bed in model.seabeds):
            found[text] = with_bed(**{name: factor})
    if any(bed.axial or bed.lateral for bed in model.seabeds):
        found["friction of the seabed x 0"] = with_bed(axial=0.0, lateral=0.0)
    dynamic = [step.procedure for step in model.steps if isinstance(step.procedure, Dynamic)]
    if dynamic and all(each.integrator != "CENTRAL DIFFERENCE" for each in dynamic):
        is_damping = all(map(damps_waves, dynamic))
        found["ENERGY MOMENTUM" if is_damping else "GENERALIZED ALPHA, RHO=0.4"] = with_scheme(
            model, *(("ENERGY MOMENTUM", 0.8) if is_damping else ("GENERALIZED ALPHA", 0.4))
        )
    return found


def with_scheme(model: Model, integrator: str, rho: float) -> Model:
    steps = (
        replace(step, procedure=replace(step.procedure, integrator=integrator, rho=rho))
        if isinstance(step.procedure, Dynamic)
        else step
        for step in model.steps
    )
    return replace(model, steps=tuple(steps))


def switches(model: Model, names: Mapping[str, str], solver: str = "AUTO", processes: int | None = None) -> Columns:
    """Numbers of the model and of each variant: columns ``switch`` and the numbers; NaN where a variant fails.

    names  numbers by name, with the series that each is of
    """
    models = {"as the deck has it": model, **variants(model)}
    series = tuple(dict.fromkeys(names.values()))
    motion = Motion(series, places_of(model, series), solver)
    jobs = {name: Job(place, each, motion, True) for place, (name, each) in enumerate(models.items())}
    values = np.full((len(models), len(names)), np.nan)
    for row, answer in enumerate(map(answered(jobs, processes).__getitem__, models)):
        if answer.verdict == COMPLETED:
            bars = bars_from(answer.history, Companions(model, names=series), {})
            values[row] = [bars.value(name) for name in names]
    return Columns({"switch": np.array(list(models)), **dict(zip(names, values.T, strict=True))})
