"""The command line: ``fem run``, ``check``, ``sweep``, ``lyapunov``, ``sections``, ``plot`` and others.

Heavy modules are imported by the command that needs them, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import fem
from fem.commands import arguments as option
from fem.commands.arguments import at, late, values_of
from fem.commands.installed import EXTRA, load_installed
from fem.commands.memory import without_libraries
from fem.commands.signals import received, stoppable
from fem.errors import CommandError, DeckError, FemError, MachineError, Stopped, from_system, proposal
from fem.study import command as studies

EXIT_CODES = """exit codes: 0 done, 1 an error in the program, 2 an error in the deck or the command,
3 no convergence, energy drift, too many increments (INC=) or a missed validation target,
4 disk full or out of memory, 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP"""
FIGURES = (
    *("energy", "iterations", "nodes", "links", "reactions", "phase", "tension", "curvature", "touchdown", "response"),
    *("modes", "buckling", "load_factor"),
)
CODES = ("calculix", "opensees", "moordyn", "code_aster", "abaqus")
SOLVERS = ("auto", "chain", "band", "border", "cg", "direct", "superlu", "pardiso")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the answer is the exit code of the process."""
    open_streams()
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments:
        parser().print_help()
        return CommandError.exit_code
    try:
        options = parser(*arguments[:1]).parse_args(arguments)
    except CommandError as error:
        complain(f"fem: error: {error}")
        return error.exit_code
    # Start-up makes many objects that all live on: looking through them for garbage is a tenth of its time.
    gc.set_threshold(100_000)
    if "numpy" not in sys.modules and (reason := without_libraries()):
        complain(f"fem: error: {reason}")
        return MachineError.exit_code
    with stoppable():
        return answer(options)


def answer(options: argparse.Namespace) -> int:
    """Carry out a command; what goes wrong becomes a message and an exit code."""
    try:
        code = int(options.command(options))
        sys.stdout.flush()
        return code
    except DeckError as error:
        count = len(error.problems)
        said = f"{count} error{'s' if count != 1 else ''} in the deck; nothing was solved or written"
        complain("\n".join([str(error), said, *notes_of(error)]))
        return error.exit_code
    except FemError as error:
        complain("; ".join([f"fem: error: {error}", *notes_of(error)]))
        return error.exit_code
    except KeyboardInterrupt as error:
        return interrupted(error)
    except BrokenPipeError:
        from fem.runs.console import stop_writing

        stop_writing(sys.stdout)
        return 0
    except MemoryError as error:
        complain(f"fem: error: not enough memory for this ({' '.join(str(error).split()) or 'no details'})")
        return MachineError.exit_code
    except OSError as error:
        found = from_system(error)
        complain(f"fem: error: {found}")
        return found.exit_code
    except Exception:
        if received:
            return interrupted(Stopped(received[0]))
        import traceback

        complain(traceback.format_exc() + "fem: this is a bug in the program; please report it, with the deck")
        return 1


def interrupted(error: KeyboardInterrupt) -> int:
    """The message and the exit code where a signal has ended the command; what compiles for it ends, too."""
    if background := sys.modules.get("fem.compiled.background"):
        background.compiler.end()
    complain("; ".join(["fem: interrupted; everything finished so far is written", *notes_of(error)]))
    return error.exit_code if isinstance(error, Stopped) else 130


def open_streams() -> None:
    """Output that can take any character, and goes nowhere where it was closed (``>&-``).
    A closed one leaves its number to the next file that is opened, a table of results: then others write into it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))
        elif hasattr(stream, "reconfigure"):
            # A console that cannot show a character must not stop a run.
            stream.reconfigure(errors="backslashreplace")


class Described(argparse._SubParsersAction):  # type: ignore[type-arg]
    """Commands whose own help begins with the line that describes them in the list."""

    def add_parser(self, name: str, **kwargs: Any) -> Any:
        text = kwargs["help"]
        return super().add_parser(name, description=f"{text[0].upper()}{text[1:]}.", **kwargs)


class Parser(argparse.ArgumentParser):
    """Suggests a command, or the value of an option, for one that does not exist."""

    def add_subparsers(self, **kwargs: Any) -> Any:
        return super().add_subparsers(action=Described, **kwargs)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, f"there is no {value!r}; {proposal(str(value), action.choices)}")


def parser(asked: str = "") -> argparse.ArgumentParser:
    """The commands and their options: those beside the one that is asked for, or all, which takes longer."""
    top = Parser(
        prog="fem",
        description="Nonlinear dynamics of cables, bars, rods and ropes from an Abaqus/CalculiX-style deck.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"fem {fem.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    known = {name: add for add, names in COMMANDS.items() for name in names}
    is_named = asked != "" and asked[0] != "-"
    if asked not in known and asked != "--version":
        try:
            load_installed()
        except CommandError as error:
            if is_named:
                raise
            top.epilog = f"{EXIT_CODES}\n\nnote: {error}"
    for name, extra in EXTRA.items():
        if name in known:
            raise CommandError(f"fem {name} is a command of the program: fem.register it by another name")
        added = commands.add_parser(name, help=extra.text)
        option.add_deck(added)
        added.set_defaults(command=late(extra.function, is_told=True))
    for add in [known[asked]] if asked in known else COMMANDS:
        add(commands)
    return top


def add_solver(commands: Any) -> None:
    run = commands.add_parser("run", help="solve a deck and write its results")
    option.add_deck(run)
    option.add_output(run, "folder of the results (default: results/<deck name>)")
    where = "continue this run from its last checkpoint; the files will be those of an uninterrupted run"
    run.add_argument("--continue", dest="goes_on", action="store_true", help=where)
    where = "folder of an earlier run; the first step starts from its state (*RESTART, READ)"
    run.add_argument("--from", dest="earlier", metavar="DIR", type=option.folder_name, help=where)
    run.add_argument("--quiet", action="store_true", help="print errors and warnings only")
    run.add_argument("--plot", action="store_true", help="draw energies, iterations and displacements (PNG)")
    where = "also run the deck with other increments, mesh and criterion: error bars of all printed numbers"
    run.add_argument("--error-bars", dest="error_bars", action="store_true", help=where)
    where = "also compute the derivatives of all printed numbers by these parameters"
    run.add_argument("--sensitivity", metavar="EA,Cd,...", type=option.names, help=where)
    where = "parameters that are not known exactly: error bars of inputs, and what limits the result"
    run.add_argument("--uncertain", metavar="EA=5%,mu=0.3:0.6,...", help=where)
    run.add_argument("--no-vtk", dest="vtk", action="store_false", help="do not write the fields for ParaView")
    run.add_argument("--solver", choices=SOLVERS, default="auto", type=str.lower, help="linear solver (default: auto)")
    run.set_defaults(command=run_command)

    check = commands.add_parser("check", help="read a deck and report the model and likely mistakes; nothing is solved")
    option.add_deck(check)
    check.set_defaults(command=check_command)


def add_decks(commands: Any) -> None:
    from fem.lines import pendulums, spans

    pendulum = commands.add_parser("pendulum", help="write, and optionally run, the deck of a pendulum of N links")
    pendulums.add_options(pendulum)
    pendulum.set_defaults(command=writes("fem.lines.pendulums:pendulum"))
    text = "write, and optionally run, the deck of a mooring line or of a conductor span"
    line = commands.add_parser("line", help=text)
    spans.add_options(line)
    line.set_defaults(command=line_command)
    foreign = commands.add_parser("import", help="convert the input file of another program to a deck")
    programs = foreign.add_subparsers(metavar="PROGRAM", required=True)
    text = "convert an input file of MoorDyn (version 2 or 1): lines, points, bodies, rods, options"
    moordyn = programs.add_parser("moordyn", help=text)
    moordyn.add_argument("file", metavar="FILE.txt", type=Path, help="input file of MoorDyn")
    moordyn.add_argument("--output", metavar="DECK.inp", type=Path, required=True, help="deck to write")
    option.add_force(moordyn)
    moordyn.set_defaults(command=late("fem.codes.from_moordyn:convert", is_told=True))
    text = "write a deck for another program: an input file, or a unit for co-simulation (FMI)"
    export = commands.add_parser("export", help=text)
    option.add_deck(export)
    export.add_argument("--to", choices=("fmu", *CODES), required=True, help="program, or kind of unit")
    where = "file to write (default: <deck name>.fmu); of other programs the folder of the files (default: this one)"
    export.add_argument("--file", metavar="FILE.fmu|DIR", type=Path, help=where)
    where = "FMU: amplitudes with DEFINITION=USER (default: all)"
    export.add_argument("--input", metavar="NAME,NAME", default="", help=where)
    where = "FMU: a value that is set before a step is reached at its end (linear, default), acts at once and stays "
    where += "(hold), or is carried on to the end of the step by the last two values (ahead)"
    export.add_argument("--input-order", choices=("hold", "linear", "ahead"), default="linear", help=where)
    where = "FMU: numbers that the unit gives: U, V, A, RF of nodes, T of elements, names of energies"
    export.add_argument("--output", metavar="T_e12,U3_n5", default="", help=where)
    export.add_argument("--fmi", type=int, choices=(3, 2), default=3, help="version of FMI (default: 3)")
    option.add_force(export)
    unit, files = (late(place, is_told=True) for place in ("fem.codes.fmu:export", "fem.codes.export:export"))
    export.set_defaults(command=lambda options: (unit if options.to == "fmu" else files)(options))


def add_comparison(commands: Any) -> None:
    compare = commands.add_parser("compare", help="run a deck in other codes, too, and compare the answers")
    option.add_deck(compare)
    which = "codes to run, of calculix, opensees, moordyn (default: all)"
    compare.add_argument("--with", dest="codes", metavar="CODE,CODE", default="calculix,opensees,moordyn", help=which)
    which = "Python that has openseespy and moordyn (default: this one); CalculiX is ccx on PATH"
    compare.add_argument("--python", metavar="PYTHON", type=Path, help=which)
    which = "seconds that each run of another code may take (default: 300)"
    compare.add_argument("--time-limit", metavar="S", type=option.positive, default=300.0, help=which)
    compare.add_argument("--no-error-bars", dest="plain", action="store_true", help="differences only, in fewer runs")
    option.add_output(compare, "folder of the table and the figure (default: results/<deck name>_compare)")
    compare.set_defaults(command=late("fem.codes.compare:compare_as_asked", is_told=True))


def add_others(commands: Any) -> None:
    examples = commands.add_parser("example", help="list or copy the decks that come with the program")
    examples.add_argument("names", metavar="NAME", nargs="*", help="decks to copy, or all (default: list them)")
    option.add_output(examples, "folder of the copies (default: the current one)")
    examples.set_defaults(command=late("fem.commands.example:example", is_told=True))
    words = commands.add_parser("help", help="describe a keyword of decks, or list all of them")
    words.add_argument("words", metavar="KEYWORD", nargs="*", help="as in a deck, such as NODE PRINT")
    words.set_defaults(command=late("fem.commands.reference:keyword_help"))
    token = "The printed address contains a token; without it nobody, not even another local user, can open the page."
    page = commands.add_parser("app", help="run the program in a browser: forms, runs and results", epilog=token)
    page.add_argument("start", metavar="DECK|DIR", nargs="?", type=Path, help="deck or folder of results to open")
    page.add_argument("--port", metavar="N", type=option.port, default=8080, help="port of the page (default: 8080)")
    where = "address to listen on (default: 127.0.0.1, this computer only); any other one lets other computers connect"
    page.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help=where)
    page.add_argument("--no-open", dest="is_opened", action="store_false", help="do not open a browser")
    page.set_defaults(command=late("fem.app.server:serve", is_told=True))
    validate = commands.add_parser("validate", help="run the validation cases; report target, computed value and ratio")
    validate.add_argument("cases", metavar="CASE", nargs="*", help="names, or all (default: all but the long ones)")
    option.add_output(validate, "folder of the report")
    validate.set_defaults(command=late("fem.study.validation:validate"))

    warm = commands.add_parser("warmup", help="compile the solver in advance, once after every installation or update")
    warm.set_defaults(command=late("fem.study.warmup:warmup"))


def add_pictures(commands: Any) -> None:
    plot = commands.add_parser("plot", help="draw the figures of a run from its files")
    plot.add_argument("--what", choices=FIGURES, help="one kind of figure (default: all for which the run has data)")
    plot.add_argument("--format", choices=("png", "svg", "pdf"), default="png", help="file format (default: png)")
    option.add_output(plot, "folder of the figures (default: DIR)", "FOLDER")
    where = "magnify displacements in figures of shapes and modes (default: 1, more if shapes would not show them)"
    plot.add_argument("--scale", metavar="S", type=option.positive, help=where)
    plot.set_defaults(command=late("fem.show.plot:plot", is_told=True))
    film = commands.add_parser("animate", help="make a film of the motion of a run from its files")
    option.add_output(film, ".gif, .mp4 or .html (default: DIR/motion.gif)", "FILE")
    many = "length of the trails in frames; 0: no trails (default: 30)"
    film.add_argument("--trail", metavar="N", type=option.count, default=30, help=many)
    film.add_argument("--nodes", metavar="LABEL", type=int, nargs="+", default=[], help="labels of nodes with a trail")
    film.add_argument("--fps", type=option.positive, default=30.0, help="frames per second (default: 30)")
    many = "largest number of frames (default: 300)"
    film.add_argument("--frames", metavar="N", type=option.positive_count, default=300, help=many)
    film.add_argument("--from", dest="start", metavar="T", type=option.number, default=-math.inf, help="first time")
    film.add_argument("--to", dest="end", metavar="T", type=option.number, default=math.inf, help="last time")
    where = "time of the motion per second of film (1: real time), instead of --frames"
    film.add_argument("--speed", metavar="S", type=option.positive, help=where)
    where = "magnify displacements by this factor (the scale factor of ParaView and Abaqus; default: 1)"
    film.add_argument("--scale", metavar="S", type=option.positive, default=1.0, help=where)
    film.set_defaults(command=late("fem.show.animate:animate", is_told=True))
    told = commands.add_parser("report", help="write an HTML report of a run, a sweep, exponents or a validation")
    option.add_output(told, "report file (default: DIR/report.html)", "FILE.html")
    told.add_argument("--title", default="", metavar="TEXT", help="title of the report (default: the deck's heading)")
    told.add_argument("--author", default="", metavar="TEXT", help="author, for the title block")
    told.add_argument("--note", default="", metavar="TEXT", help="a paragraph below the title")
    told.add_argument("--date", default="", metavar="TEXT", help="date of the title block (default: today)")
    where = "breaking load of an element set, or of all bars, for the utilisation on the first page; may be repeated"
    form = {"metavar": "[SET=]FORCE", "type": option.strength, "action": "append", "default": []}
    told.add_argument("--strength", **form, help=where)
    what = "print the page as PDF, too (by Chromium, else by WeasyPrint, the extra pdf)"
    told.add_argument("--pdf", action="store_true", help=what)
    told.add_argument("--compare", action="store_true", help="compare the runs of several folders on one page")
    told.set_defaults(command=late("fem.show.report:report_command", is_told=True))
    for command, count in ((plot, {}), (film, {}), (told, {"nargs": "+"})):
        what = "folder with the results of a run"
        command.add_argument("folder", metavar="DIR", type=option.folder_name, help=what, **count)


def add_analyses(commands: Any) -> None:
    post = commands.add_parser("post", help="analyse the tables of a run: fatigue cycles, statistics, ranges")
    questions = post.add_subparsers(metavar="ANALYSIS", required=True)
    text = "count the rainflow cycles (ASTM E1049) of time series, and compute their fatigue damage"
    rainflow = questions.add_parser("rainflow", help=text)
    option.add_curve(rainflow)
    text = "sort the cycles of the table into this number of equal ranges"
    rainflow.add_argument("--bins", metavar="N", type=option.positive_count, help=text)
    rainflow.set_defaults(command=late("fem.show.series:rainflow", is_told=True))
    text = "print mean, std, extremes, zero-crossing period and expected extremes of time series"
    stats = questions.add_parser("stats", help=text)
    text = "also print the largest value expected in a duration D"
    stats.add_argument("--duration", metavar="D", type=option.positive, help=text)
    text = "also fit a Gumbel distribution to the largest values of this number of equal parts of the time"
    stats.add_argument("--blocks", metavar="N", type=option.blocks, help=text)
    stats.set_defaults(command=late("fem.show.series:stats", is_told=True))
    line = questions.add_parser("range", help="write minimum, mean and maximum along a line as a table and a figure")
    text = "set of the elements that form the line"
    line.add_argument("--set", dest="members", metavar="LINE", required=True, help=text)
    line.set_defaults(command=late("fem.show.shapes:line_range", is_told=True))
    loops = questions.add_parser("kink", help="torque over the one at which a line under tension buckles into a loop")
    loops.add_argument("--set", dest="members", metavar="LINE", required=True, help=text)
    loops.set_defaults(command=late("fem.show.shapes:kink", is_told=True))
    series = "series from the tables: T of element 12, U3 of node 5; T_TOPS: at each instant the largest in a set; "
    series += "T_e1/A+SM_n1/W: a sum, here a stress"
    number_of_line = "T, or a number of the nodes such as SK or U3"
    asked = (rainflow, "T_e12[,U3_n5]", series), (stats, "T_e12[,U3_n5]", series), (line, "T", number_of_line)
    for question, what, text in asked:
        question.add_argument("folder", metavar="DIR", type=option.folder_name, help="folder with the results of a run")
        question.add_argument("--what", metavar=what, required=True, help=text)
        option.add_window(question)
    loops.add_argument("folder", metavar="DIR", type=option.folder_name, help="folder with the results of a run")
    option.add_window(loops)


def add_structures(commands: Any) -> None:
    text = "count self-stress states, mechanisms and rigid motions of a structure, and judge its stability"
    rigid = commands.add_parser("rigidity", help=text)
    option.add_deck(rigid)
    where = "number or name of the step after which the state is judged (default: before the first one)"
    rigid.add_argument("--after", metavar="STEP", help=where)
    where = "singular values below this fraction of the largest are zero (default: 1e-8)"
    rigid.add_argument("--tolerance", metavar="F", type=option.fraction, default=1e-8, help=where)
    option.add_output(rigid, "folder of the tables and figures (default: results/<deck name>_rigidity)")
    rigid.add_argument("--quiet", action="store_true", help="print errors and warnings only")
    rigid.set_defaults(command=late("fem.study.files:write_rigidity", is_whole=True))

    text = "forces of a mooring over offsets of its vessel, its stiffness, and each line"
    moored = commands.add_parser("mooring", help=text)
    option.add_deck(moored)
    where = "reference node of the rigid body that moves, or set of fairleads (default: the only rigid body)"
    moored.add_argument("--vessel", metavar="NODE|NSET", help=where)
    where = "reference point, where the deck draws the vessel (default: its node, or the mean of the fairleads)"
    option.add_list(moored, "--about", "X,Y,Z", where)
    where = (
        "number or name of the static step after which the vessel is at rest (default: the last one at the beginning)"
    )
    moored.add_argument("--after", metavar="STEP", help=where)
    moored.add_argument("--offset", metavar="R", type=option.positive, default=0.0, help="largest horizontal offset")
    where = "number of offsets up to it (default: 10)"
    moored.add_argument("--points", metavar="N", type=option.positive_count, default=10, help=where)
    where = "headings of the offsets in degrees from x towards y (default: every 45)"
    option.add_list(moored, "--headings", "LIST", where)
    where = "a further offset, with a rotation vector in degrees; may be repeated"
    option.add_list(moored, "--at", "X,Y,Z,RX,RY,RZ", where, action="append", default=[])
    where = "number of modes at rest (default: 6 of a free body, otherwise none)"
    moored.add_argument("--modes", metavar="N", type=option.count, help=where)
    where = "also write stiffness and mass of the lines with the vessel at rest (.npz of SciPy, Matrix Market)"
    moored.add_argument("--matrices", action="store_true", help=where)
    option.add_output(moored, "folder of the tables and the figure (default: results/<deck name>_mooring)")
    moored.set_defaults(command=late("fem.study.files:write_mooring", is_whole=True))

    text = "write the deck of the structure that *FORM FINDING finds, and a table of its forces"
    form = commands.add_parser("form", help=text)
    option.add_deck(form)
    where = "deck to write (default: <deck name>_formed.inp); the table is beside it, .csv"
    form.add_argument("--output", metavar="FORMED.inp", type=Path, help=where)
    option.add_force(form)
    form.set_defaults(command=late("fem.show.formed:write_form", is_told=True))


COMMANDS: dict[Callable[[Any], None], tuple[str, ...]] = {
    add_solver: ("run", "check"),
    add_decks: ("pendulum", "line", "import", "export"),
    add_comparison: ("compare",),
    studies.add_sweep: ("sweep",),
    studies.add_converge: ("converge",),
    studies.add_chaos: ("lyapunov", "sections", "basins"),
    studies.add_branches: ("continue", "orbits"),
    studies.add_fit: ("fit",),
    add_pictures: ("plot", "animate", "report"),
    add_analyses: ("post",),
    add_structures: ("rigidity", "mooring", "form"),
    add_others: ("example", "help", "app", "validate", "warmup"),
}
"""What adds parsers, and of which commands."""


def run_command(options: argparse.Namespace) -> int:
    given = values_of(options) | {"parameters": dict(options.parameters), "solver": options.solver.upper()}
    if not options.quiet:  # a first run says what it begins with, and why
        from fem.compiled.interpreted import work
        from fem.runs.console import as_note, say

        work.notify = lambda text: say(as_note(text))
    asked = {name: its for name in ("sensitivity", "uncertain") if (its := given.pop(name))}
    has_bars = given.pop("error_bars")
    if asked:
        at("fem.study.sensitivity.files:run_with_derivatives")(**given, **asked, error_bars=has_bars)
    else:
        at("fem.study.certainty.files:run_with_bars" if has_bars else "fem.runner:run_to_files")(**given)
    return 0


def check_command(options: argparse.Namespace) -> int:
    from fem.show.checking import check

    print(check(options.deck, parameters=dict(options.parameters)))
    return 0


def writes(place: str) -> Callable[[argparse.Namespace], int]:
    """A command that writes a deck, by the function at a place; ``--run``: also runs it, and draws a moved line."""

    def command(options: argparse.Namespace) -> int:
        from fem.runs.console import say

        given = {name: value for name, value in values_of(options).items() if name != "run" and value is not None}
        deck = at(place)(**given)
        say(f"wrote {deck}")
        if not options.run:
            return 0
        code = run_command(parser("run").parse_args(["run", str(deck)]))
        if getattr(options, "motion", None) or getattr(options, "record", None):
            from fem.runs.own import RESULTS
            from fem.show.plot import plot

            plot(RESULTS / deck.stem, "tension", say=say)
        return code

    return command


def line_command(options: argparse.Namespace) -> int:
    """``fem line``: a deck of a span or of a row of sag and tension, the tables of these and a figure, or stresses."""
    if options.bending_amplitude is not None:
        return late("fem.lines.vibration:tell_clamp_stress", is_told=True)(options)
    if options.sag_tension is None:
        return writes("fem.lines.spans:line_as_asked")(options)
    if options.row is not None:
        return writes("fem.lines.line_sections:line_section_as_asked")(options)
    from fem.lines.sagging import sag_tension_as_asked, told_lines, write_sag_tension
    from fem.runs.console import say
    from fem.show.page import save_page, save_sags

    kept = ("sag_tension", "output", "force", "run", "stringing", "report")
    given = {name: value for name, value in values_of(options).items() if value is not None and name not in kept}
    line = sag_tension_as_asked(options.sag_tension, **given)
    path = options.output or Path("sag_tension.csv")
    told = told_lines(line)
    for text in told:
        say(text)
    for written in write_sag_tension(line, path, options.stringing or (), options.force):
        say(str(written))
    say(str(save_sags(line, path.with_suffix(".png"), options.force)))
    if options.report is not None:
        say(str(save_page(line, told[:2], options.report, options.force)))
    return 0


def notes_of(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", []))


def complain(text: str) -> None:
    """To stderr, after what stdout still holds; where nobody reads it, the exit code has to do."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
