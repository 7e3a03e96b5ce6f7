"""What of a model may not change between a run and one that goes on from its state, under names for messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fem.model import Model

SET = "set "


def parts_of(model: Model) -> dict[str, Any]:
    """Everything but steps, amplitudes, time points and what only says where the model came from."""
    mesh = model.mesh
    parts: dict[str, Any] = {"*NODE": (mesh.node_labels, mesh.coordinates), "*ELEMENT": mesh.blocks}
    parts |= {f"{SET}{name}": members for name, members in {**mesh.node_sets, **mesh.element_sets}.items()}
    parts |= {f"*MATERIAL, NAME={name}": material for name, material in model.materials.items()}
    parts |= {
        "*SOLID SECTION": model.sections,
        "*SPRING": model.springs,
        "*DASHPOT": model.dashpots,
        "*MASS": model.masses,
        "*NONSTRUCTURAL MASS": model.nonstructural,
        "*REST LENGTH": model.rest_lengths,
        "*PULLEY": model.pulleys,
        "*AQUA": (model.water,),
        "*WIND": (model.wind,),
        "*WAVE": model.waves,
        "*DRAG LAW": model.drag_laws,
        "*MARINE GROWTH": model.growths,
        "*SEABED": model.seabeds,
        "*RIGID CYLINDER": model.cylinders,
        "*EQUATION": model.equations,
        "*MPC": model.links,
        "*STOP PLANE": model.planes,
        "*INITIAL CONDITIONS": model.initial_conditions,
        "*BOUNDARY before the first step": model.boundaries,
    }
    return parts


def changed_parts(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of parts that differ; sets may come and go, materials that nothing is made of, too."""
    found = [name for name in before if name in now and before[name] != now[name]]
    fixed = ("*NODE", "*ELEMENT")
    return sorted(found, key=lambda name: (name not in fixed, name))
