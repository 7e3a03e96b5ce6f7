"""Values of parameters with which the text of a model was read."""

from pathlib import Path

import fem
from fem.deck import deck_reader, read_model

TEXT = "*PARAMETER\na = 1.\nb = 2.\nc = a + b\n" + Path("inputs/sdnl100.inp").read_text()


def test_a_model_read_again_keeps_the_values_it_was_given():
    model = fem.parse_deck(TEXT, {"a": 5.0})
    other = read_model(model, {"b": 3.0})
    assert other.parameters["a"] == 5.0 and other.parameters["c"] == 8.0
    assert read_model(other, {"a": 1.0}).parameters["c"] == 4.0  # and those of later readings
    read = deck_reader(model, ["b"])
    assert [read({"b": value}).parameters["c"] for value in (1.0, 2.0)] == [6.0, 7.0]
