"""``fem form``: the deck of the structure that ``*FORM FINDING`` finds, and a table of its forces and lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fem.arrays import Say
from fem.commands.files import lines_of, write_new
from fem.deck import read_model
from fem.deck.forms import stiffness_of, strains_of
from fem.deck.writer import write_deck
from fem.errors import CommandError
from fem.model.facts import distances, loads_of, natural_lengths
from fem.runs.console import as_note
from fem.runs.own import deck_name, origin_of

HEAD = ("element", "N", "L", "L0", "q")


def write_form(deck: Path, parameters: list[tuple[str, float]], output: Path | None, force: bool, say: Say) -> None:
    """Writes the deck with its nodes placed and ``*REST LENGTH``, and element, N, L, L0, q = N/L beside it."""
    model = read_model(deck, dict(parameters))
    if not any(text.startswith("*FORM FINDING") for text in model.notices):
        raise CommandError(f"{deck} has no *FORM FINDING")
    path = output or Path(f"{deck_name(model)}_formed.inp")
    mesh, stiffness = model.mesh, stiffness_of(model)
    length, natural = distances(mesh), natural_lengths(mesh, model.rest_lengths)
    chosen = ~np.isnan(stiffness)
    length, natural = length[chosen], natural[chosen]
    pull = stiffness[chosen] * loads_of(length / natural, strains_of(model)[chosen])
    rows = np.column_stack([pull, length, natural, pull / length]).tolist()
    table = [[label, *row] for label, row in zip(mesh.element_labels[chosen].tolist(), rows, strict=True)]
    for text in model.notices:
        say(as_note(text))
    files = (path, write_deck(model).encode()), (path.with_suffix(".csv"), lines_of([HEAD, *table]))
    if own := origin_of(model).read_among([place for place, _ in files]):
        raise CommandError(f"{own[0]} is an input and would be overwritten; nothing was changed: choose another name")
    for place, content in files:
        say(f"wrote {write_new(place, content, force)}")
