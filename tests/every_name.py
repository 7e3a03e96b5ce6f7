"""A program that uses every public name, with four mistakes; ``test_typing.py`` has it checked, nothing runs it."""

from pathlib import Path

import fem


def said(text: str) -> None:
    print(text)


def one_run(deck: Path) -> fem.History:
    print(fem.__version__)
    try:
        history = fem.run(deck, output="results/a", parameters={"links": 3}, output_every=2)
        fem.run("a.inp", outptu="x")  # wrong: call-arg
    except fem.EnergyDrift as error:
        so_far: fem.History = error.history
        return so_far
    except (fem.NoConvergence, fem.ModelError, fem.CommandError) as error:
        raise fem.FemError(str(error)) from error
    except fem.DeckError as error:
        problem: fem.Problem = error.problems[0]
        raise SystemExit(problem.line) from error
    return history


def read_it(history: fem.History) -> float:
    print(history.of_node(2)[-1, 2], history.of_element(1, "T").max(), history.modes[0].frequency)
    print(history.velocity)  # wrong: attr-defined
    again = fem.load("results/a", output_every=2)
    return float(again.time[-1])


def pictures(deck: Path) -> list[Path]:
    files = fem.plot("results/a", "energy", say=said)
    return [*files, fem.animate("results/a", frames=20), fem.report("results/a", title="A run")]


def many_runs(deck: Path) -> fem.Sweep:
    study = fem.Record("T_e1", slope=3.0, constant=1e18)
    found = fem.sweep(deck, {"links": [1, 2.0]}, record=study, workers=2)
    fem.sweep(deck, {"links": 3})  # wrong: dict-item
    prepared = fem.prepare(deck)
    print(prepared.run({"links": 4}).time, prepared.model().steps)
    bars, enough = fem.error_bars(deck), fem.converge(deck, "T_1_max", 0.02)
    fitted = fem.fit(deck, cases="measured.csv", vary={"links": (1.0, 9.0)})
    slopes: dict[str, float] = fem.sensitivity(deck, ["links"]).slope("max:T_e1")
    print(slopes, fem.gradient(deck, "T_e1", ["links"])([2.0])[1])
    print(bars, enough, fitted, fem.frequencies(deck, 3).frequency)
    return found


def chaos(deck: Path) -> None:
    print(fem.lyapunov(deck, exponents=2), fem.sections(deck, cycles=50), fem.basins(deck, {"U1_2": [0.1, 0.2]}))
    print(fem.continuation(deck, {"load": [1.0, 2.0]}), fem.orbits(deck, multiple=2))


def decks() -> fem.Model:
    mast = fem.Builder("Two nodes and a bar")
    ends = mast.nodes([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    mast.bars(ends, area=1e-4, modulus=1e6)
    model: fem.Model = mast.model()
    text: str = fem.write_deck(fem.parse_deck(fem.write_deck(fem.read_deck("a.inp"))))
    print(fem.rigidity(model, after=1).verdict, fem.mooring(model, vessel="SHIP", offset=10.0).rest.stiffness)
    print(text, fem.check(model), fem.pendulum(3), fem.line((100.0, 0.0, 0.0), section="ACSR Drake"))
    tensions = fem.sag_tension("cases.csv", section="ACSR Drake", spans=[300.0])
    print(fem.line_section(tensions, "initial"), fem.clamp_stress("ACSR Drake", 30e3, 1e-3))
    return model


def other_programs(model: fem.Model) -> None:
    with fem.stepper(model) as sim:
        sim["pull"] = 2.0
        sim.advance(0.1)
        print(sim.tension(1), sim.u("TOP"), sim.energies["kinetic"])
    unit: str = fem.export_fmu("a.inp", outputs=["T_e1"])  # wrong: assignment
    print(unit, fem.export_deck(model, "calculix"), fem.compare(model, ["calculix"]))
    fem.register("heat", quantity=lambda values: values["T"])
