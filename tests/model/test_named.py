"""Names of numbers: text, value and text again; what is no name is said in words."""

from __future__ import annotations

import re

import pytest

import fem
from fem.arrays import without_kind
from fem.errors import CommandError
from fem.model.named import COLUMNS, PRINTS, Named, item_named, labels_of, names_of, number_named, split
from fem.model.quantities import ENERGIES, QUANTITIES
from tests.test_quantities import DECK

MODEL = fem.parse_deck(DECK.format(requests=""))


@pytest.mark.parametrize("kind", PRINTS)
def test_every_quantity_of_a_model_is_read_as_it_is_written(kind):
    labels = labels_of(MODEL.mesh, kind).tolist()
    assert labels == ([1, 2, 3] if kind == "n" else [4, 5])
    quantities = QUANTITIES[PRINTS[kind].split()[0]]
    for name in names_of(kind, list(COLUMNS[kind]), labels):
        number = number_named(name)
        assert str(number) == name and number.kind == kind and number.label in labels
        assert number.quantity in quantities and number.quantity.columns[number.axis] == number.column
        bare = str(number._replace(kind=""))
        assert without_kind(name) == bare and without_kind(f"{name}_end") == f"{bare}_end"
        assert item_named(bare) == item_named(f" {name.lower()} ") == number
        assert split(f"{name}_max", ("min", "max")) == (name, "max") and split(name, ("min", "max")) == (name, "")


def test_nodes_come_one_after_the_other():
    assert names_of("n", ["U1", "U2"], [7, 2]) == ["U1_n7", "U2_n7", "U1_n2", "U2_n2"]
    assert names_of("", ["T"], [0, 4]) == ["T_0", "T_4"]


@pytest.mark.parametrize("name", ENERGIES)
def test_energies_are_of_the_whole_model(name):
    number = number_named(name)
    assert str(number) == name and not number.kind and number.quantity.unit == "energy"
    with pytest.raises(CommandError, match=f"'{name}' does not name a series"):
        item_named(name)


WRONG = {
    "T12": "'T12' does not name a series: write T_e12 (element 12) or U3_n5 (node 5)",
    "T_LINE": "'T_LINE' does not name a series",
    "T_e1_max": "'T_e1_max' does not name a series",
    "U4_n1": "'U4_n1' does not name a series",
    "Q_e1": "there is no quantity of elements Q; there are E, S, N, T, T2",
    "U1_e1": "there is no quantity of elements U1;",
    "T_n1": "there is no quantity of nodes T; there are U1, U2, U3, V1,",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_no_name_is_said(text, message):
    with pytest.raises(CommandError, match=re.escape(message)):
        number_named(text)


def test_a_number_has_the_request_that_prints_it():
    assert Named("U3", "n").request == "request *NODE PRINT, NSET=... with U in the deck, FREQUENCY=1"
    assert Named("T", "e", 5).request == "request *EL PRINT, ELSET=... with T in the deck, FREQUENCY=1"
