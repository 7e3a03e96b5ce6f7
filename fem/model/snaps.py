"""What increments that are too long make of the tension of lines that snap taut, by integrator.

Measured on chains of 40 and 50 bars with a dropped load, a body that jerks, and a fairlead that moves up and down:
the table of docs/theory/time.md.
"""

from __future__ import annotations

from fem.model.steps import Controls, Dynamic

SHARE = 0.1
"""Snaps of at least this share of the largest force so far are told where increments do not follow them."""
FINE = 1e-4
"""TIME ERROR that shortens increments enough: its default."""
CHANGE = 0.3
"""TENSION CHANGE that does."""
FOLLOW = "automatic increments (without DIRECT, with TIME ERROR as it is by default) follow snaps"


def damps_waves(procedure: Dynamic) -> bool:
    """Whether a scheme takes most of what bars ring with out of an increment, as GENERALIZED ALPHA with RHO = 0.4.

    Of HHT (1 + ALPHA)/(1 - ALPHA) is RHO.
    """
    return procedure.integrator == "BACKWARD EULER" or (
        (procedure.integrator == "GENERALIZED ALPHA" and procedure.rho <= 0.5)
        or (procedure.integrator == "HHT" and procedure.alpha <= -1.0 / 3.0)
    )


def follows_snaps(procedure: Dynamic, controls: Controls) -> bool:
    """Whether local error or change of tension shorten increments where a line snaps taut, to peaks some 5 % off."""
    if procedure.direct or procedure.by_convergence or procedure.integrator == "CENTRAL DIFFERENCE":
        return False
    if controls.time_error is None:
        return False
    return controls.time_error <= FINE or 0.0 < (controls.tension_change or 0.0) <= CHANGE


def expected_peaks(procedure: Dynamic, waves: float) -> str:
    """What becomes of peaks where an increment lasts so many passages of a wave through a bar: measured on chains."""
    if procedure.integrator == "CENTRAL DIFFERENCE":
        return "may be off by a tenth"
    if procedure.integrator == "ENERGY MOMENTUM":
        return "may be off by a tenth" if waves <= 2.0 else "may be off by 10 to 40 %, either way"
    if damps_waves(procedure):
        return "may be understated by up to 20 %" if waves <= 2.0 else "are understated by 15 to 60 %"
    return f"may be off by a tenth, or overstated ten to several hundred times: {procedure.integrator} lets bars ring"
