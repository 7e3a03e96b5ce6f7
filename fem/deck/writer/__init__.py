"""``Model`` to deck text that reads back as an equal model; floats by ``repr``, so that no digit is lost."""

from __future__ import annotations

from fem.deck.writer.mesh import mesh_lines
from fem.deck.writer.properties import property_lines
from fem.deck.writer.steps import step_lines, support_lines
from fem.deck.writer.surroundings import surroundings_lines
from fem.deck.writer.text import card, field, number
from fem.model import Model


def write_deck(model: Model) -> str:
    """The deck of a model; parameters and includes of the deck it was read from are not restored.

    >>> model = fem.read_deck("inputs/cable_net.inp")
    >>> fem.parse_deck(fem.write_deck(model)) == model
    True
    """
    labels = model.mesh.node_labels
    lines = ["*HEADING", *model.heading] if model.heading else []
    lines += mesh_lines(model.mesh)
    lines += property_lines(model)
    lines += surroundings_lines(model)
    for amplitude in model.amplitudes.values():
        spacing = "LOGARITHMIC" if amplitude.is_logarithmic else None
        head = {"NAME": amplitude.name, "DEFINITION": amplitude.definition, "TIME": amplitude.time, "SPACING": spacing}
        lines.append(card("AMPLITUDE", **head))
        if amplitude.definition == "PERIODIC":
            first = (amplitude.omega, amplitude.start, amplitude.mean)
            lines.append(", ".join((str(len(amplitude.fourier)), *map(number, first))))
        if amplitude.definition == "SWEEP":
            ends = (amplitude.omega, amplitude.omega_end, amplitude.duration)
            lines.append(", ".join(map(number, (*ends, amplitude.start, amplitude.mean))))
        lines += [
            f"{number(left)}, {number(right)}" for left, right in (*amplitude.points.tolist(), *amplitude.fourier)
        ]
    for name, instants in model.time_points.items():
        lines += [card("TIME POINTS", NAME=name), *map(number, instants)]
    for equation in model.equations:
        lines += ["*EQUATION", str(len(equation.terms))]
        lines += [f"{labels[node]}, {dof}, {number(coefficient)}" for node, dof, coefficient in equation.terms]
    if model.links:
        lines += ["*MPC", *(f"LINK, {labels[first]}, {labels[second]}" for first, second in model.links)]
    for condition in model.initial_conditions:
        dof = f"{condition.dof}, " if condition.kind not in ("STRESS", "TEMPERATURE") else ""
        lines.append(card("INITIAL CONDITIONS", TYPE=condition.kind))
        lines.append(f"{field(condition.target)}, {dof}{number(condition.value)}")
    for body in model.bodies:
        names = {"PIN NSET": body.pinned, "ROTATION": body.rotation}
        lines.append(card("RIGID BODY", f"REF NODE={body.node}", **names))
    for plane in model.planes:
        values: dict[str, str | float] = {
            "NSET": plane.node_set,
            "RESTITUTION": plane.restitution,
            "FRICTION": plane.friction,
        }
        lines += [card("STOP PLANE", f"REF NODE={plane.node}", **values), ", ".join(map(number, plane.normal))]
    lines += support_lines((*model.boundaries, *model.rotations), replaced=False)
    if model.earlier is not None:
        flags = ["READ", *(["END STEP"] if model.earlier.ends_step else [])]
        lines.append(card("RESTART", *flags, STEP=model.earlier.step, INC=model.earlier.increment))
    if model.restart_every is not None:
        lines.append(card("RESTART", "WRITE", FREQUENCY=model.restart_every or None))
    lines += step_lines(model.steps)
    return "\n".join(lines) + "\n"
