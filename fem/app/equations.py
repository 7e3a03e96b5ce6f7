"""The equations of motion of a pendulum of N links as MathML, which browsers set themselves."""

from __future__ import annotations

from fem.lines.pendulums import Pendulum, coefficients

MOST_NUMBERS = 5
"""Largest number of links of which the coefficients are shown as numbers."""


def row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def name(letter: str, *indices: str) -> str:
    """A letter with indices."""
    below = "".join(f"<mi>{index}</mi>" for index in indices)
    return f"<msub><mi>{letter}</mi><mrow>{below}</mrow></msub>" if below else f"<mi>{letter}</mi>"


def rate(of: str, dots: int) -> str:
    """A time derivative."""
    return f'<mover accent="true">{of}<mo>{"˙" if dots == 1 else "¨"}</mo></mover>'


def sign(text: str) -> str:
    return f"<mo>{text}</mo>"


def summed(index: str, first: str, last: str) -> str:
    below = row(f"<mi>{index}</mi>", sign("="), f"<mi>{first}</mi>")
    return f"<munderover><mo>∑</mo>{below}<mi>{last}</mi></munderover>"


def function(which: str, inside: str) -> str:
    return row(f"<mi>{which}</mi>", sign("("), inside, sign(")"))


def shown(*parts: str) -> str:
    return f'<math display="block">{row(*parts)}</math>'


def equations_of(pendulum: Pendulum) -> str:
    """HTML: the equations, what their coefficients are, and with few links their numbers."""
    between = row(name("θ", "i"), sign("−"), name("θ", "j"))
    turn = rate(name("θ", "j"), 2)
    if pendulum.damping:
        turn = row(sign("("), turn, sign("+"), name("c"), rate(name("θ", "j"), 1), sign(")"))
    square = f"<msup>{rate(name('θ', 'j'), 1)}<mn>2</mn></msup>"
    inside = row(function("cos", between), turn, sign("+"), function("sin", between), square)
    motion = shown(
        summed("j", "1", "N"), name("M", "i", "j"), sign("["), inside, sign("]"), sign("+"), name("g"), name("G", "i"),
        "<mi>sin</mi>", name("θ", "i"), sign("="), "<mn>0</mn>", "<mspace width='2em'/>", name("i"), sign("="),
        "<mn>1</mn>", sign("…"), name("N"),
    )  # fmt: skip
    drag = row(sign("+"), name("c"), name("v", "k")) if pendulum.damping else ""
    pull = shown(
        name("F", "i"), sign("="), summed("k", "i", "N"), name("m", "k"), sign("("), name("a", "k"), drag, sign("+"),
        name("g"), name("e", "z"), sign(")"),
    )  # fmt: skip
    said = [
        f"<p>Angles θ<sub>i</sub> from the downward vertical.{WITH_DRAG if pendulum.damping else ''}</p>", motion,
        f"<p>{MASSES[pendulum.body]}</p>",
        "<p>Force of the joint above link i on it, with accelerations a<sub>k</sub> of the centres of mass:</p>", pull,
    ]  # fmt: skip
    if pendulum.stiffness is not None:
        said.append("<p>These are the equations of rigid links; the run has links that stretch.</p>")
    if pendulum.links <= MOST_NUMBERS:
        said.append(numbers_of(pendulum))
    return "".join(said)


WITH_DRAG = " c: damping."
BEYOND = "the masses of all links beyond i and j"
MASSES = {
    "bar": f"M<sub>ij</sub> = L<sub>i</sub> L<sub>j</sub> times {BEYOND}, and of the outer of both m/2 (m/3 where "
    "i = j); G<sub>i</sub> = L<sub>i</sub> times the masses beyond i and m<sub>i</sub>/2.",
    "point": "M<sub>ij</sub> = L<sub>i</sub> L<sub>j</sub> times the masses of the outer of both links and all beyond; "
    "G<sub>i</sub> = L<sub>i</sub> times the masses of link i and all beyond.",
    "centre": f"M<sub>ij</sub> = L<sub>i</sub> L<sub>j</sub> times {BEYOND}, and of the outer of both m/2 (m/4 where "
    "i = j); G<sub>i</sub> = L<sub>i</sub> times the masses beyond i and m<sub>i</sub>/2.",
}


def numbers_of(pendulum: Pendulum) -> str:
    """M [kg m2] and G [kg m] of a pendulum."""
    inertia, weight = coefficients(pendulum)
    return shown(
        name("M"), sign("="), matrix(inertia), "<mtext> kg m²,</mtext>", "<mspace width='1em'/>", name("G"), sign("="),
        matrix([[each] for each in weight]), "<mtext> kg m</mtext>",
    )  # fmt: skip


def matrix(numbers: list[list[float]]) -> str:
    rows = "".join(f"<mtr>{''.join(f'<mtd><mn>{each:.4g}</mn></mtd>' for each in line)}</mtr>" for line in numbers)
    return row(sign("("), f"<mtable>{rows}</mtable>", sign(")"))
