"""Why another code differs, as far as is known: reasons, each with the change of our run or of its run that undoes it.

How much a reason explains is measured (``compare.py``): the runs that it changes are repeated with that one change. A
reason applies to a deck that it changes. What the exports state themselves is no reason here: accelerations at the
start in OpenSees, g in MoorDyn, and T of the segment, which is read in all codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from fem.codes.export import files_for
from fem.codes.twin import hht_at, printed, radius_of
from fem.model import Dashpot, Dynamic, ElementBlock, Material, Model, OutputRequest, Step
from fem.model.facts import natural_lengths
from fem.model.mesh import TRUSSES
from fem.study.refined import refined

Change = Callable[[Model], Model]
FINER, MUCH_FINER = 4, 8
"""Increments in place of one: of ours beside MoorDyn's, of both where CalculiX' motion is of first order."""
ADDED, COMPARED = "FEM_DASHPOTS_", "FEM_COMPARED"


def same(model: Model) -> Model:
    return model


def of_steps(change: Callable[[Step], Step]) -> Change:
    return lambda model: replace(model, steps=tuple(map(change, model.steps)))


def of_dynamics(change: Callable[[Dynamic], Dynamic]) -> Change:
    return of_steps(lambda step: replace(step, procedure=change(step.dynamic)) if step.dynamic else step)


def of_materials(change: Callable[[Material], Material]) -> Change:
    return lambda model: replace(model, materials={name: change(one) for name, one in model.materials.items()})


def of_sections(**given: Any) -> Change:
    return lambda model: replace(model, sections=tuple(replace(one, **given) for one in model.sections))


def finer(model: Model, parts: int) -> Model:
    """The same with so many increments in place of each, and rows at the same instants."""
    steps = list[Step]()
    for step in model.steps:
        if step.dynamic:
            outputs = tuple(replace(each, every=parts * each.every) for each in step.outputs)
            step = replace(step, procedure=replace(step.dynamic, dt=step.dynamic.dt / parts), outputs=outputs)
        steps.append(step)
    return replace(model, steps=tuple(steps))


def as_calculix_has_it(dynamic: Dynamic) -> Dynamic:
    if dynamic.integrator == "HHT" or (dynamic.integrator, dynamic.beta, dynamic.gamma) == ("NEWMARK", 0.25, 0.5):
        return dynamic
    return replace(dynamic, integrator="HHT", alpha=hht_at(radius_of(dynamic)))


def as_opensees_has_it(dynamic: Dynamic) -> Dynamic:
    if dynamic.integrator in ("NEWMARK", "HHT", "GENERALIZED ALPHA"):
        return dynamic
    if dynamic.integrator == "BACKWARD EULER":
        return replace(dynamic, integrator="GENERALIZED ALPHA", rho=0.0)
    return replace(dynamic, integrator="NEWMARK", beta=0.25, gamma=0.5)


def averaged_no_more(dynamic: Dynamic) -> Dynamic:
    if dynamic.integrator not in ("HHT", "GENERALIZED ALPHA", "BACKWARD EULER"):
        return dynamic
    return replace(dynamic, integrator="NEWMARK", beta=0.25, gamma=0.5)


def much_finer_if_damped(model: Model) -> Model:
    return model if undamped(model) == model else finer(model, MUCH_FINER)


def undamped(model: Model) -> Model:
    """Without BETA and the coefficients of dashpots."""
    dashpots = tuple(replace(each, coefficient=0.0) for each in model.dashpots)
    return of_materials(lambda one: replace(one, beta=0.0))(replace(model, dashpots=dashpots))


def with_equal_increments(model: Model) -> Model:
    """Of motions, and of statics in which bars yield: what they have become depends on where increments end."""

    def equal(step: Step) -> Step:
        if not (step.dynamic or (step.static and model.yields)):
            return step
        return replace(step, procedure=replace(step.timed, direct=True, dt_min=None, dt_max=None))

    return of_steps(equal)(model)


def undamped_if_moved(model: Model) -> Model:
    is_moved = any(boundary.value for step in model.steps for boundary in step.boundaries)
    return undamped(model) if is_moved else model


def is_damped_cable(material: Material) -> bool:
    return material.beta != 0.0 and material.compression_ratio != material.tension_ratio


def damped_while_slack(model: Model) -> Model:
    """BETA of cables becomes a dashpot beside each of them, which acts whatever its force; its set names the cable."""
    mesh, label = model.mesh, int(model.mesh.element_labels.max(initial=0))
    length, axial = natural_lengths(mesh, model.rest_lengths), mesh.is_of(*TRUSSES)
    added: dict[int, float] = {}
    for section in model.sections:
        material = model.materials[section.material]
        for element in mesh.element_sets[section.element_set].tolist():
            added.pop(element, None)
            if axial[element] and is_damped_cable(material):
                added[element] = material.beta * (material.young or 0.0) * section.area / length[element]
    if not added:
        return model
    elements, first = np.array(list(added)), len(mesh.element_labels)
    block = ElementBlock("DASHPOTA", label + 1 + np.arange(len(elements)), mesh.element_nodes[elements])
    labels = mesh.element_labels[elements].tolist()
    sets = {f"{ADDED}{own}": np.array([first + k]) for k, own in enumerate(labels)}
    mesh = replace(mesh, blocks=(*mesh.blocks, block), element_sets=mesh.element_sets | sets)
    dashpots = tuple(Dashpot(name, (), each) for name, each in zip(sets, added.values(), strict=True))
    model = replace(model, mesh=mesh, dashpots=(*model.dashpots, *dashpots))
    return of_materials(lambda one: replace(one, beta=0.0) if is_damped_cable(one) else one)(model)


def without_friction(model: Model) -> Model:
    return replace(model, seabeds=tuple(replace(bed, axial=0.0, lateral=0.0) for bed in model.seabeds))


def asked(model: Model) -> Model:
    """The model that prints by name the elements that are compared: halves of bars lie beside fewer nodes."""
    mesh, labels = model.mesh, printed(model)[1]
    if not labels or any(each.kind == "EL PRINT" and each.every for step in model.steps for each in step.outputs):
        return model
    sets = mesh.element_sets | {COMPARED: np.flatnonzero(np.isin(mesh.element_labels, labels))}
    first, *others = model.steps
    first = replace(first, outputs=(*first.outputs, OutputRequest("EL PRINT", COMPARED)))
    return replace(model, mesh=replace(mesh, element_sets=sets), steps=(first, *others))


def lines_in(parts: int, curved: bool = False) -> Change:
    """Each bar of lines in 2 or 4 parts: of those in water; ``curved``: of those that bend and twist, with their new
    nodes on the curve through those of the deck."""

    def change(model: Model) -> Model:
        is_asked = model.may_twist if curved else any(step.fluid_loads for step in model.steps)
        for _ in range(parts // 2 if is_asked else 0):
            model = refined(asked(model), curved).model
        return model

    return change


def with_one_gravity(model: Model) -> Model:
    """Buoyancy by the g of the weight."""
    found = {load.value for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"}
    return replace(model, water=replace(model.water, gravity=found.pop())) if model.water and len(found) == 1 else model


def without_watch(model: Model) -> Model:
    """A changed run may lose more energy than the deck allows."""
    return of_steps(lambda step: replace(step, controls=replace(step.controls, energy_drift=None)))(model)


class Reason(NamedTuple):
    """Why a code differs: ``ours`` changes what we run, ``its`` what is exported, ``options`` how that is done.
    ``halfway``: a change of half the extent, where the whole one leaves an error of first order: what both programs
    still change from there on is this error of theirs."""

    name: str
    sentence: str
    codes: tuple[str, ...]
    ours: Change = same
    its: Change = same
    options: Callable[[Model], Mapping[str, Any]] = lambda model: {}
    halfway: Reason | None = None

    def changes_ours(self, model: Model) -> bool:
        return self.ours(model) != model

    def changes_its(self, code: str, model: Model) -> bool:
        """What is exported. DeckError: the code cannot express what the change makes of it."""
        if self.its(model) == model and not self.options(model):
            return False
        return files_for(code, self.its(model), **self.options(model))[0] != files_for(code, model)[0]


def all_of(reasons: Sequence[Reason]) -> Reason:
    """Their changes one after the other."""

    def after_each_other(changes: Iterable[Change]) -> Change:
        return lambda model: reduce(lambda changed, change: change(changed), changes, model)

    ours, its = (after_each_other([getattr(each, whose) for each in reasons]) for whose in ("ours", "its"))
    options = lambda model: {key: value for each in reasons for key, value in each.options(model).items()}  # noqa: E731
    names, some = ", ".join(each.name for each in reasons), any(each.halfway for each in reasons)
    halfway = all_of([each.halfway or each for each in reasons]) if some else None
    return Reason("together", f"{names} at once", reasons[0].codes, ours, its, options, halfway)


ALL = ("calculix", "opensees", "moordyn")
REASONS = (
    Reason("strain", "elongation over length, as in the other code: STRAIN=ENGINEERING in fem", ALL,
           ours=of_sections(strain="ENGINEERING")),
    Reason("increments", "equal increments, as in the other code: DIRECT in fem", ALL,
           ours=with_equal_increments),
    Reason("scheme", "HHT with the ALPHA of the exported deck, in fem, too", ("calculix",),
           ours=of_dynamics(as_calculix_has_it)),
    Reason("scheme", "the integrator of the exported script, in fem, too", ("opensees",),
           ours=of_dynamics(as_opensees_has_it)),
    Reason("scheme", "HHT, GENERALIZED ALPHA: OpenSees takes the force between the ends of an increment, fem the mean "
           "of both ends, and weighs inertia otherwise: trapezoidal rule in both", ("opensees",),
           ours=of_dynamics(averaged_no_more), its=of_dynamics(averaged_no_more)),
    Reason("start", "the motion begins with the acceleration of its forces, as in the other code: not INITIAL=NO", ALL,
           ours=of_dynamics(lambda one: replace(one, initial_acceleration=True))),
    Reason("start", "each bar a line of its own in MoorDyn, so that it begins where the deck lays it", ("moordyn",),
           options=lambda model: {"in_pieces": True} if model.steps[0].static else {}),
    Reason("first increment", f"CalculiX begins without the forces of dashpots: dt/{MUCH_FINER} in both", ("calculix",),
           ours=much_finer_if_damped, its=much_finer_if_damped),
    Reason("increment", f"MoorDyn has short steps of its own: dt/{FINER} in fem", ("moordyn",),
           ours=lambda model: finer(model, FINER)),
    Reason("damping", "slack cables are damped, too, as in the other code: dashpots beside them in fem", ALL,
           ours=damped_while_slack),
    Reason("moved supports", "CalculiX takes ends of dashpots at moved supports for at rest: no damping in both",
           ("calculix",), ours=undamped_if_moved, its=undamped_if_moved),
    Reason("mass rule", "masses at nodes: MASS=LUMPED in fem", ALL, ours=of_sections(mass_rule="LUMPED")),
    Reason("pushing", "MoorDyn's lines do not push: NO COMPRESSION in fem", ("moordyn",),
           ours=of_materials(lambda one: replace(one, compression_ratio=0.0))),
    Reason("mesh", "MoorDyn takes drag at nodes, across the mean of the bars beside them, fem along each bar: each bar "
           "of lines in four, in both; bars with what four change of two", ("moordyn",), ours=lines_in(4),
           its=lines_in(4), halfway=Reason("mesh", "", ("moordyn",), ours=lines_in(2), its=lines_in(2))),
    Reason("mesh", "bars bend along their length, those of fem at nodes: each bar of lines in four, in both, on the "
           "curve through their nodes; bars with what four change of two", ("opensees",),
           ours=lines_in(4, True), its=lines_in(4, True),
           halfway=Reason("mesh", "", ("opensees",), ours=lines_in(2, True), its=lines_in(2, True))),
    Reason("friction", "MoorDyn's is a damper up to mu W, where the deck's holds: no friction in both", ("moordyn",),
           ours=without_friction, its=without_friction),
    Reason("g", "MoorDyn has one g, of weight and buoyancy: that of GRAV in *AQUA of fem", ("moordyn",),
           ours=with_one_gravity),
)  # fmt: skip
