"""Input decks: ``.inp`` text to ``Model`` and back; the only place that knows commas and asterisks.

To add a keyword: a row of the table in the fitting file (``table.py``), or a function ``(card, draft)`` under
``@keyword(...)`` and its name here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from fem.commands.installed import load_installed
from fem.deck import (
    amplitudes,
    conditions,
    fluids,
    harmonic,
    loads,
    materials,
    mesh,
    mesh_include,
    outputs,
    parts,
    reader,
    sections,
    steps,
    surfaces,
    waves,
)
from fem.deck.scanner import DeckFiles, checked_overrides
from fem.deck.table import Handler
from fem.deck.writer import write_deck
from fem.errors import CommandError, DeckError
from fem.model import Model

KEYWORDS: dict[str, Handler] = {
    "HEADING": conditions.heading,
    "INCLUDE": mesh_include.include,
    "PART": parts.part,
    "END PART": parts.end,
    "ASSEMBLY": parts.assembly,
    "END ASSEMBLY": parts.end,
    "INSTANCE": parts.instance,
    "END INSTANCE": parts.end,
    "NODE": mesh.node,
    "ELEMENT": mesh.element,
    "NGEN": mesh.ngen,
    "NFILL": mesh.nfill,
    "ELGEN": mesh.elgen,
    "NSET": mesh.nset,
    "ELSET": mesh.elset,
    **materials.CARDS,
    **sections.CARDS,
    "SEABED": surfaces.seabed,
    "RIGID CYLINDER": surfaces.rigid_cylinder,
    "STOP PLANE": surfaces.stop_plane,
    "RIGID BODY": conditions.rigid_body,
    "FAILURE": loads.failure,
    "MODEL CHANGE": loads.model_change,
    "AQUA": fluids.aqua,
    "WIND": fluids.wind,
    "WAVE": waves.wave,
    "RAO": waves.rao,
    "DRAG LAW": fluids.drag_law,
    "MARINE GROWTH": fluids.marine_growth,
    "AMPLITUDE": amplitudes.amplitude,
    "TIME POINTS": amplitudes.time_points,
    "EQUATION": conditions.equation,
    "MPC": conditions.mpc,
    "INITIAL CONDITIONS": conditions.initial_conditions,
    "TRANSFORM": conditions.transform,
    "STEP": steps.step,
    "END STEP": steps.end_step,
    "STATIC": steps.static,
    "VISCO": steps.visco,
    "DYNAMIC": steps.dynamic,
    "FREQUENCY": harmonic.frequency,
    "STEADY STATE DYNAMICS": harmonic.steady_state_dynamics,
    "MODAL DAMPING": harmonic.modal_damping,
    "CONTROLS": steps.controls,
    "BOUNDARY": loads.boundary,
    "CLOAD": loads.cload,
    "DLOAD": loads.dload,
    "TEMPERATURE": loads.temperature,
    "WINCH": loads.winch,
    "D ADDED MASS": fluids.added_mass,
    "NODE PRINT": outputs.node_print,
    "EL PRINT": outputs.el_print,
    "ENERGY PRINT": outputs.energy_print,
    "NODE FILE": outputs.node_file,
    "EL FILE": outputs.el_file,
    "OUTPUT": outputs.output,
    "NODE OUTPUT": outputs.node_output,
    "ELEMENT OUTPUT": outputs.element_output,
    "ENERGY OUTPUT": outputs.energy_output,
    "RESTART": outputs.restart,
}
"""``*PARAMETER`` and ``*INCLUDE`` are answered by ``scanner.py``, foreign keywords by ``reader.py``."""


def read_deck(
    path: str | Path,
    parameters: Mapping[str, float] | None = None,
    earlier: reader.EarlierDecks = (),
) -> Model:
    """Read an input deck.

    parameters  values that replace those of ``*PARAMETER`` lines, by name (``--set``)
    earlier     decks of earlier runs, the last one first, and their parameters: a deck that contains only further steps
                uses their model (``*RESTART, READ``)

    Raises
    ------
    DeckError     all errors of the deck, in its order, at most ``MAX_PROBLEMS``
    CommandError  a name in ``parameters`` is no ``*PARAMETER`` of the deck, or its value is not a finite number

    >>> len(fem.read_deck("inputs/chain_modes.inp", {"links": 20}).mesh.node_labels)
    21
    """
    known = [(each, checked_overrides(values)) for each, values in earlier]
    return answered(lambda: reader.read_file(path, checked_overrides(parameters), KEYWORDS, earlier=known))


def answered(read: Callable[[], Model]) -> Model:
    """What is read; once more, with what installed packages add, where something in it is not known otherwise."""
    try:
        return read()
    except DeckError:
        if not load_installed():
            raise
    return read()


def read_model(
    deck: str | Path | Model,
    parameters: Mapping[str, float] | None = None,
    earlier: reader.EarlierDecks = (),
) -> Model:
    """As ``read_deck``, unless it is a ``Model``. CommandError: no such file; parameters of what is read already."""
    if isinstance(deck, Model):
        if parameters:
            raise CommandError("parameters can only be set in the text of a deck; this Model has been read already")
        return deck
    path = Path(deck)
    if not path.is_file():
        what = "is a folder, not a deck" if path.is_dir() else "does not exist"
        beside = Path(f"{path}.inp")
        from fem.commands.example import copies

        hint = f"did you mean {beside}?" if beside.is_file() else copies(path)
        raise CommandError(f"{path} {what}" + (f"; {hint}" if hint else ""))
    return read_deck(path, dict(parameters or {}), earlier)


def deck_reader(path: str | Path, varied: Collection[str]) -> Callable[[Mapping[str, float]], Model]:
    """``read_deck`` of one deck for many parameter sets that differ in the ``varied`` ones.
    The text is what it was when it was first read. Where it is certain that only numbers of the model change, these
    are put in without reading again (``OutlineReader``)."""
    return reader.OutlineReader(path, varied, KEYWORDS)


def parse_deck(
    text: str, parameters: Mapping[str, float] | None = None, name: str = "deck", folder: Path | None = None
) -> Model:
    """Like ``read_deck``, for a deck given as text; ``*INCLUDE`` reads files in ``folder``.

    >>> fem.parse_deck(open("inputs/sdnl100.inp").read()).mesh.node_labels.tolist()
    [1, 2]
    """

    def read() -> Model:
        files = DeckFiles()
        return reader.read_source(files, files.open_text(text, name, folder), checked_overrides(parameters), KEYWORDS)

    return answered(read)


__all__ = ["KEYWORDS", "deck_reader", "parse_deck", "read_deck", "read_model", "write_deck"]
