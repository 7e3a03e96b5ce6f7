"""Names of numbers that are asked for, as ``fem.error_bars`` has them."""

from __future__ import annotations

from fem.errors import CommandError, proposal
from fem.model import Model
from fem.model.quantities import ENERGIES
from fem.show.series import number_of
from fem.study.certainty.numbers import statistic

KINDS = ("max", "min", "mean", "std", "damage", "instant", "event")


def checked(wanted: str, model: Model) -> tuple[str, str]:
    """A number as ``ErrorBars`` names it, and the series that it is of, empty for frequencies and events.

    CommandError: the model has no such number; it says which ones there are.
    """
    name, rest = wanted.strip(), wanted.strip()
    head, colon, after = name.partition(":")
    if colon:
        if head not in KINDS:
            raise CommandError(f"{name!r}: there is no {head!r} of a number; {proposal(head, KINDS)}")
        rest = after
        if head == "instant":
            which, _, rest = after.partition(":")
            if which not in ("max", "min"):
                raise CommandError(f"{name!r}: write instant:max:T_e12 or instant:min:T_e12")
        if of_series := statistic(name):
            rest = of_series[0]
    if head == "event" or name.startswith("frequency_"):
        return name, ""
    inner, at, instant = rest.partition("@")
    if at and colon:
        raise CommandError(f"{name!r}: a number at an instant is T_e12@2.5, without {head}:")
    if at:
        try:
            float(instant)
        except ValueError:
            raise CommandError(f"{name!r}: {instant!r} is not a time; write T_e12@2.5") from None
    if inner in ENERGIES:
        return name, inner
    column, kind, label = number_of(inner)
    labels = model.mesh.element_labels if kind == "e" else model.mesh.node_labels
    if label not in labels:
        what = "element" if kind == "e" else "node"
        raise CommandError(f"{name!r}: there is no {what} {label}; {proposal(str(label), map(str, labels.tolist()))}")
    series = f"{column}_{kind}{label}"
    return name[: len(name) - len(rest)] + series + at + instant, series
