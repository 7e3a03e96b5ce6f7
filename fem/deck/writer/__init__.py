"""``Model`` to deck text that reads back as the same model."""

from fem.model import Model


def write_deck(model: Model) -> str:
    return ""
