"""Mutated decks: nothing but DeckError may come out of the reader.

``python -m tests.deck.fuzz 100000 1``: number of decks and seed. It tells the slowest; no test does: machines are busy.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from fem.deck import parse_deck, read_deck, write_deck
from fem.errors import DeckError
from tests.deck.decks import GOOD

CHARACTERS = '*,=<>()"\n\r\t -+.0123456789eEdDaZ_/\\\x00\x1c\u00fc\u0661\u2028'
SNIPPETS = (
    "nan", "inf", "1e400", "-1", "0", "99999999999999999999", "1e308", "9**9**9**9", "<k>", "<nope>", "*STEP",
    "*END STEP", "*MATERIAL, NAME=X", "GENERATE", "1, 1000000, 1", "**", "* ---", "*INCLUDE, INPUT=.",
    "*INCLUDE, INPUT=\x00", "*NODE", "*PARAMETER", "ALL", "1e-320", ",,,,,,,,,,,,,,,,,,", "OP=NEW", "NLGEOM=NO",
    "*ELEMENT, TYPE=MASS", "*SHELL SECTION", "*PART, NAME=P", "*END PART", "*ASSEMBLY", "*INSTANCE, NAME=I, PART=P",
    "*END INSTANCE", "*END ASSEMBLY",
)  # fmt: skip


def mutate(text: str, random_: random.Random) -> str:
    """One random change: of characters, of words, or of lines."""
    kind = random_.randrange(9)
    if kind < 3:
        at = random_.randrange(len(text) + 1)
        end = min(len(text), at + random_.choice((0, 1, 1, 2, 5)))
        return text[:at] + random_.choice(("", random_.choice(CHARACTERS), text[at:end] * 2)) + text[end:]
    lines = text.split("\n")
    at, other = random_.randrange(len(lines)), random_.randrange(len(lines))
    if kind == 3:
        del lines[at]
    elif kind == 4:
        lines.insert(other, lines[at])
    elif kind == 5:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 6:
        lines.insert(at, random_.choice(SNIPPETS))
    else:
        entries = lines[at].split(",")
        entry = random_.randrange(len(entries))
        donor = random_.choice(lines[other].split(","))
        entries[entry] = random_.choice((random_.choice(SNIPPETS), donor, entries[entry] * 3, ""))
        lines[at] = ",".join(entries)
    return "\n".join(lines)


def decks(count: int, seed: int, seeds: list[str]) -> object:
    """Mutations of good decks, now and then plain noise."""
    random_ = random.Random(seed)
    for number in range(count):
        if number % 50 == 49:
            yield "".join(random_.choice(CHARACTERS) for _ in range(random_.randrange(200)))
            continue
        text = random_.choice(GOOD if random_.random() < 0.7 else seeds)
        for _ in range(random_.choice((1, 1, 2, 3, 8))):
            text = mutate(text, random_)
        yield text


def check(text: str) -> tuple[bool, float]:
    """Read one deck, and write it if it is a good one: (did it read, seconds)."""
    start = time.perf_counter()
    try:
        model = parse_deck(text, name="fuzz", folder=Path("/nonexistent"))
        reads = True
    except DeckError as error:
        str(error)
        assert error.problems
        reads = False
    seconds = time.perf_counter() - start
    if reads and model.mesh.node_labels.size < 1000:
        assert parse_deck(write_deck(model)) == model, text
    return reads, seconds


def fuzz(count: int, seed: int) -> tuple[int, float]:
    """(decks that still read, slowest in seconds)."""
    seeds = list(GOOD)
    for folder in ("bad", "parts"):
        seeds += [path.read_text() for path in sorted((Path(__file__).parent / folder).glob("*.inp"))]
    reads, slowest = 0, 0.0
    for text in decks(count, seed, seeds):  # type: ignore[attr-defined]
        try:
            good, seconds = check(text)
        except Exception:
            Path("/tmp/fuzz_failure.inp").write_text(text, errors="surrogatepass")
            raise
        reads, slowest = reads + good, max(slowest, seconds)
    return reads, slowest


def fuzz_bytes(count: int, seed: int, folder: Path) -> int:
    """Files of broken bytes: how many are refused; the others still read."""
    random_, refused = random.Random(seed), 0
    path = folder / "bytes.inp"
    for _ in range(count):
        content = bytearray(random_.choice(GOOD).encode())
        for _ in range(random_.randrange(1, 20)):
            content[random_.randrange(len(content))] = random_.randrange(256)
        path.write_bytes(bytes(content))
        try:
            read_deck(path)
        except DeckError as error:
            refused += str(error).startswith(str(path))
    return refused


if __name__ == "__main__":
    number, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    begin = time.perf_counter()
    good, worst = fuzz(number, start)
    print(f"{number} decks, {good} still read, slowest {worst:.3f} s, {time.perf_counter() - begin:.0f} s in all")
