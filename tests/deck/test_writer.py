"""What is written reads back as an equal model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fem.deck import parse_deck, read_model, write_deck
from fem.model import (
    Amplitude,
    BarSection,
    Boundary,
    Controls,
    Dashpot,
    DistributedLoad,
    DragLaw,
    Dynamic,
    ElementBlock,
    Equation,
    Expansion,
    FluidLoad,
    Frequency,
    InitialCondition,
    MarineGrowth,
    Material,
    Mesh,
    Model,
    NodalLoad,
    OutputRequest,
    PointMass,
    RestLength,
    Spring,
    Static,
    Step,
    Temperature,
    Water,
    Wind,
)
from tests.deck.decks import GOOD

reals = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(1e-300, 1e300)
share = st.floats(0.0, 1.0)
dofs = st.integers(1, 3)
names = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "Zs"), include_characters=" ,.-_'"), min_size=1, max_size=9
)
names = names.map(lambda text: "S" + " ".join(text.split()).upper()).filter(lambda text: text == text.upper().strip())


def rising(draw: st.DrawFn, least: int = 1) -> list[float]:
    return sorted(draw(st.sets(st.floats(0, 1e6), min_size=least, max_size=4)))


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Small models with a bit of everything."""
    labels = draw(st.lists(st.integers(1, 10**9), min_size=4, max_size=8, unique=True))
    count = len(labels)
    coordinates = np.array([[draw(reals), float(at), draw(reals)] for at in range(count)])
    ids = draw(st.lists(st.integers(1, 10**6), min_size=6, max_size=6, unique=True))
    ends = [draw(st.permutations(range(count)))[:2] for _ in range(4)]
    blocks = [
        ElementBlock("SPRING1", np.array(ids[:1]), np.array([[0]])),
        ElementBlock("T3D2", np.array(ids[1:3]), np.array(ends[:2])),
        ElementBlock("SPRINGA", np.array(ids[3:4]), np.array(ends[2:3])),
        ElementBlock("DASHPOT2", np.array(ids[4:5]), np.array(ends[3:4])),
        ElementBlock("MASS", np.array(ids[5:]), np.array([[1]])),
    ]
    sets = draw(st.lists(names, min_size=5, max_size=5, unique=True))
    element_sets = {sets[0]: [0], sets[1]: [1, 2], sets[2]: [3], sets[3]: [4], sets[4]: [5]}
    mesh = Mesh(
        np.array(labels),
        coordinates,
        tuple(blocks),
        {draw(names): np.array(sorted(draw(st.sets(st.integers(0, count - 1), min_size=1))))},
        {name: np.array(members) for name, members in element_sets.items()},
    )
    nodes = st.sampled_from([*labels, *mesh.node_sets])
    elements = st.sampled_from([ids[1], sets[1]])
    amplitudes = {name: draw(amplitude(name)) for name in draw(st.sets(names, max_size=2))}
    amplitude_names = st.sampled_from([None, *amplitudes])
    name = draw(names)
    return Model(
        mesh=mesh,
        heading=draw(st.sampled_from([(), ("a title, with = signs <x>", "two")])),
        materials={name: draw(material(name))},
        sections=(
            BarSection(
                sets[1], name, draw(positive), draw(st.sampled_from(["LUMPED", "ONE POINT"])), "LOG", draw(share)
            ),
        ),
        springs=(
            Spring(sets[0], (draw(dofs),), draw(reals)),
            Spring(sets[2], (), 0.0, tuple((draw(reals), at) for at in rising(draw, 2))),
        ),
        dashpots=(Dashpot(sets[3], (draw(dofs), draw(dofs)), draw(positive)),),
        masses=(PointMass(sets[4], draw(positive), draw(share)),),
        rest_lengths=(RestLength(draw(elements), draw(positive)),),
        water=Water(
            -10.0, draw(share), draw(positive), draw(positive), ((draw(reals), 1.0, 0.0, -3.0), (0.0, 0.0, 0.0, 2.0))
        ),
        wind=Wind(draw(positive), draw(positive), (draw(reals), draw(reals)), (0.6, -0.8), draw(share)),
        drag_laws={"LAW": DragLaw("LAW", ((0.0, 0.0), (1.0, draw(share)), (2.0, 5.0)))},
        growths=(MarineGrowth(sets[1], draw(positive), ((-1.0, 0.02, draw(share)), (0.5, draw(share), 1.0))),),
        amplitudes=amplitudes,
        equations=(Equation(((0, 1, draw(positive)), (1, draw(dofs), draw(reals)))),),
        initial_conditions=(
            InitialCondition("STRESS", draw(elements), draw(reals)),
            InitialCondition("VELOCITY", draw(nodes), draw(reals), draw(dofs)),
            InitialCondition("TEMPERATURE", draw(nodes), draw(reals)),
        ),
        boundaries=tuple(Boundary(draw(nodes), draw(dofs)) for _ in range(draw(st.integers(0, 3)))),
        time_points={"TP": tuple(rising(draw))},
        steps=tuple(draw(step(nodes, elements, amplitude_names)) for _ in range(draw(st.integers(1, 3)))),
    )


@st.composite
def material(draw: st.DrawFn, name: str) -> Material:
    expansion = Expansion(tuple((draw(reals), at) for at in rising(draw)), draw(reals))
    return Material(
        name, draw(positive), draw(st.floats(-0.9, 0.5)), draw(st.floats(0, 1e9)),
        draw(st.sampled_from([None, expansion])),
        draw(share), draw(share), *draw(st.sampled_from([(1.0, 1.0), (0.0, 1.0), (0.5, 1.0), (1.0, 0.0)])),
    )  # fmt: skip


@st.composite
def amplitude(draw: st.DrawFn, name: str) -> Amplitude:
    kind = draw(st.sampled_from(["TABULAR", "SMOOTH STEP", "PERIODIC"]))
    time = draw(st.sampled_from(["STEP TIME", "TOTAL TIME"]))
    if kind == "PERIODIC":
        pairs = draw(st.lists(st.tuples(reals, reals), max_size=3))
        return Amplitude(
            name, kind, time, omega=draw(positive), start=draw(reals), mean=draw(reals), fourier=tuple(pairs)
        )
    return Amplitude(name, kind, time, tuple((at, draw(reals)) for at in rising(draw)))


@st.composite
def step(draw: st.DrawFn, nodes: st.SearchStrategy, elements: st.SearchStrategy, amplitudes: st.SearchStrategy) -> Step:
    procedures = (
        Static(0.1, 2.0, direct=True),
        Static(0.1, 1.0, 1e-3, 0.5),
        Dynamic(0.01, 1.0, beta=0.3025, gamma=0.6, initial_acceleration=False, singular_mass="WARNING"),
        Dynamic(0.01, 1.0, integrator="HHT", alpha=-0.1),
        Dynamic(0.01, 1.0, integrator="GENERALIZED ALPHA", rho=0.0),
        Frequency(3),
    )
    residuals = draw(st.sampled_from([(1e-6, None), (None, 1e-3), (1e-8, 1.0)]))
    made = Step(
        procedure=draw(st.sampled_from(procedures)),
        nlgeom=draw(st.booleans()),
        name=draw(st.one_of(st.none(), names)),
        title=draw(st.sampled_from([(), ("a title",)])),
        max_increments=draw(st.one_of(st.none(), st.integers(1, 999))),
        extrapolation=draw(st.sampled_from(["NO", "LINEAR", "PARABOLIC"])),
        amplitude=draw(st.sampled_from([None, "STEP", "RAMP"])),
        controls=Controls(
            *residuals,
            draw(st.one_of(st.none(), positive)),
            draw(st.integers(1, 99)),
            None,
            3,
            0.3,
            2.0,
            draw(st.sampled_from([None, 1e-4, 1e-6])),
        ),
        replaced=frozenset(draw(st.sets(st.sampled_from(["BOUNDARY", "CLOAD", "DLOAD", "TEMPERATURE"])))),
        boundaries=draw(
            st.one_of(
                st.just(()),
                st.builds(Boundary, nodes, dofs, reals, amplitudes, st.sampled_from(["DISPLACEMENT", "VELOCITY"])).map(
                    lambda entry: (entry, entry)
                ),
            )
        ),
        nodal_loads=tuple(draw(st.lists(st.builds(NodalLoad, nodes, dofs, reals, amplitudes), max_size=3))),
        distributed_loads=(
            DistributedLoad(draw(elements), "BX", draw(reals), amplitude=draw(amplitudes)),
            DistributedLoad(None, "GRAV", draw(reals), (0.6, 0.0, -0.8), draw(amplitudes)),
        ),
        fluid_loads=flows(draw, draw(elements), amplitudes),
        temperatures=tuple(draw(st.lists(st.builds(Temperature, nodes, reals, amplitudes), max_size=2))),
        outputs=(
            OutputRequest(
                "NODE PRINT", None, ("U", "RF"), draw(st.integers(0, 9)), draw(st.sampled_from([None, "TP"]))
            ),
            OutputRequest("ENERGY PRINT", interval=draw(st.none() | positive)),
            OutputRequest("EL PRINT", intervals=draw(st.none() | st.integers(1, 9)), marks=draw(st.booleans())),
            OutputRequest("EL FILE", None, ("T", "S")),
        ),
    )
    if isinstance(made.procedure, Frequency):
        added = FluidLoad(draw(elements), "ADDED MASS", 1.0, draw(positive), added=draw(share))
        return replace(made, nodal_loads=(), distributed_loads=(), temperatures=(), fluid_loads=(added,))
    return made


def flows(draw: st.DrawFn, target: str | int, amplitudes: st.SearchStrategy) -> tuple[FluidLoad, ...]:
    """One of each kind."""
    size, name, streams = draw(positive), draw(amplitudes), (draw(amplitudes), draw(amplitudes))
    return (
        FluidLoad(target, "FDD", draw(reals), size, draw(share), draw(share), streams=streams, amplitude=name),
        FluidLoad(target, "WDD", 1.0, size, "LAW", streams=streams, is_current=draw(st.booleans())),
        FluidLoad(target, "FDT", 1.0, size, draw(share), draw(share), 1.0 + draw(share), streams=streams),
        FluidLoad(target, "FI", draw(reals), size, 2.0, added=draw(share), added_along=draw(st.none() | share)),
        FluidLoad(target, "PB", draw(reals), size, amplitude=name),
    )


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(models())
def test_any_model_reads_back(model: Model) -> None:
    text = write_deck(model)
    assert parse_deck(text) == model
    assert write_deck(parse_deck(text)) == text


@pytest.mark.parametrize("text", GOOD)
def test_good_decks_read_back(text: str) -> None:
    model = parse_deck(text)
    again = parse_deck(write_deck(model))
    assert again == model
    assert again.digest != model.digest


def test_every_deck_reads_back() -> None:
    """With clamps that OP=NEW holds on, and nodes that the reader has added to bodies."""
    for path in sorted(Path("inputs").glob("*.inp")):
        model = read_model(path)
        assert parse_deck(write_deck(model)) == model, path


@pytest.mark.long
@settings(max_examples=200)
@given(st.tuples(reals, reals, reals).filter(any))
def test_directions_read_back(direction: tuple[float, float, float]) -> None:
    line = ", ".join(map(repr, direction))
    model = parse_deck(GOOD[0].replace("*CLOAD\n3, 3, -10", f"*DLOAD\nBARS, GRAV, 1, {line}"))
    assert parse_deck(write_deck(model)) == model
