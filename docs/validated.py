"""What the validation page shows: all cases, and tables and figures of those that are run for it."""

from __future__ import annotations

from pathlib import Path

from fem.study.validation import as_markdown, available, is_long, load_case, run_case

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "validation" / "cases"


def cases() -> str:
    """The table of all cases, from the cases themselves."""
    lines = ["| case | topic | source of the targets | |", "|---|---|---|---|"]
    for name in available(ROOT):
        path = CASES / f"{name}.py"
        case = load_case(name, path)
        title, source = (text.replace("|", r"\|") for text in (case.TITLE, case.SOURCE))
        lines.append(f"| `{name}` | {title} | {source} | {'long' if is_long(path) else ''} |")
    return "\n".join(lines)


def show(name: str) -> None:
    """Run a case and display its section. RuntimeError: a target was missed."""
    from IPython.display import Image, Markdown, display

    verdict = run_case(name, CASES / f"{name}.py", Path("results"))
    if verdict.missed:
        raise RuntimeError(f"validation case {name} has missed its targets: {verdict}")
    heading, *lines = (line for line in as_markdown(verdict) if not line.startswith("!["))
    display(Markdown("\n".join([f"**{heading.removeprefix('## ')}**", *lines])))
    for figure in verdict.outcome.figures.values():
        figure.savefig("figure.png", dpi=80, bbox_inches="tight")
        display(Image("figure.png"))
