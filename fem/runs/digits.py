"""Numbers as text at the speed of compiled code: lines of a table, every number with the digits of ``repr``.

The shortest decimal that reads back as the same number is found as in R. Giulietti, The Schubfach way to render
doubles (2021), from a table of 128-bit powers of ten. A number takes some 25 ns, and 340 with Python's ``%r``: of a
chain of 10,000 links with every 10th increment printed, formatting would be 52 % of all processor time (measured: 0.47
of 0.90 s with U alone, 1.7 of 3.3 s with everything), where this takes 6 to 9 %. So it is not left to Python. orjson is
as fast, but writes 1e-6 for 1e-06 and 0.00002 for 2e-05; mending that takes longer than all of this.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats
from fem.compiled import inner_kernel, kernel

Word: TypeAlias = Any
"""A 64-bit unsigned integer: numpy's outside of compiled code, the processor's inside."""
EMPTY, WHOLE, NUMBER = 0, 1, 2
"""Kinds of cells: nothing, a whole number (exact up to 2^53), any number as ``repr`` writes it."""
LONGEST = 25
"""Characters of the longest number, "-1.2345678901234567e-100", with the comma after it."""
FIRST_POWER, LAST_POWER = -292, 324
LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
ONE, TWO, FOUR, TEN = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(10)


@cache
def powers() -> np.ndarray:
    """(617, 2) upper and lower half of 10^k scaled to 128 bits and rounded up, k = -292 ... 324."""
    table = np.zeros((LAST_POWER - FIRST_POWER + 1, 2), np.uint64)
    for row, k in enumerate(range(FIRST_POWER, LAST_POWER + 1)):
        top, bottom = (10**k, 1) if k >= 0 else (1, 10**-k)
        shift = 127 - ((k * 1741647) >> 19)
        value = -(-(top << shift) // bottom) if shift >= 0 else -(-top // (bottom << -shift))
        table[row] = value >> 64, value & (2**64 - 1)
    return table


def lines(numbers: Floats, kinds: np.ndarray) -> memoryview:
    """Lines of comma-separated cells, encoded.

    numbers  (k, c)  one row a line
    kinds    (p, c)  uint8, EMPTY, WHOLE or NUMBER; line i goes by row i mod p
    """
    text = np.empty(numbers.size * LONGEST + len(numbers), np.uint8)
    size = write_lines(np.ascontiguousarray(numbers), numbers.view(np.uint64), kinds, powers(), text)
    return text[:size].data


@kernel
def write_lines(numbers: Floats, bits: np.ndarray, kinds: np.ndarray, table: np.ndarray, text: np.ndarray) -> int:
    """``lines`` into ``text``; returns how many characters. ``bits``: ``numbers`` as uint64."""
    at = 0
    for line in range(numbers.shape[0]):
        for column in range(numbers.shape[1]):
            kind = kinds[line % kinds.shape[0], column]
            if kind == WHOLE:
                at = put_whole(numbers[line, column], text, at)
            elif kind == NUMBER:
                at = put_number(numbers[line, column], bits[line, column], table, text, at)
            text[at] = 44
            at += 1
        text[at - 1] = 10
    return at


@inner_kernel
def put_whole(value: float, text: np.ndarray, at: int) -> int:
    """A whole number at ``text[at]``; returns the place after it."""
    if value < 0.0:
        text[at] = 45
        at += 1
    rest = np.uint64(abs(value))
    return put_digits(rest, count_digits(rest), text, at)


@inner_kernel
def put_number(value: float, bits: Word, table: np.ndarray, text: np.ndarray, at: int) -> int:
    """A number as ``repr`` writes it."""
    if value != value:
        text[at], text[at + 1], text[at + 2] = 110, 97, 110
        return at + 3
    if bits >> np.uint64(63) != np.uint64(0):
        text[at] = 45
        at += 1
    if value - value != 0.0:
        text[at], text[at + 1], text[at + 2] = 105, 110, 102
        return at + 3
    if value == 0.0:
        text[at], text[at + 1], text[at + 2] = 48, 46, 48
        return at + 3
    digits, power = shortest(bits, table)
    while digits % TEN == np.uint64(0):
        digits //= TEN
        power += 1
    count = count_digits(digits)
    point = count + power
    if point > 16 or point < -3:
        return put_exponential(digits, count, point - 1, text, at)
    if power >= 0:
        at = put_digits(digits, count, text, at)
        for _ in range(power):
            text[at] = 48
            at += 1
        text[at], text[at + 1] = 46, 48
        return at + 2
    if point <= 0:
        text[at], text[at + 1] = 48, 46
        at += 2
        for _ in range(-point):
            text[at] = 48
            at += 1
        return put_digits(digits, count, text, at)
    put_digits(digits, count, text, at + 1)
    for place in range(at, at + point):
        text[place] = text[place + 1]
    text[at + point] = 46
    return at + count + 1


@inner_kernel
def put_exponential(digits: Word, count: int, exponent: int, text: np.ndarray, at: int) -> int:
    """d.ddde+xx"""
    put_digits(digits, count, text, at + 1)
    text[at] = text[at + 1]
    at += 1
    if count > 1:
        text[at] = 46
        at += count
    text[at] = 101
    text[at + 1] = 45 if exponent < 0 else 43
    size = np.uint64(abs(exponent))
    return put_digits(size, max(2, count_digits(size)), text, at + 2)


@inner_kernel
def count_digits(value: Word) -> int:
    """Decimal digits of a whole number, 1 for zero."""
    count = 1
    while value >= TEN:
        value //= TEN
        count += 1
    return count


@inner_kernel
def put_digits(value: Word, count: int, text: np.ndarray, at: int) -> int:
    """The last ``count`` digits of a whole number; returns the place after them."""
    for place in range(at + count - 1, at - 1, -1):
        text[place] = np.uint8(48 + value % TEN)
        value //= TEN
    return at + count


@inner_kernel
def upper_half(x: Word, y: Word) -> Word:
    """Upper 64 bits of the product of two 64-bit numbers."""
    x0, x1, y0, y1 = x & LOW, x >> SHIFT, y & LOW, y >> SHIFT
    middle = x1 * y0 + ((x0 * y0) >> SHIFT)
    other = x0 * y1 + (middle & LOW)
    return x1 * y1 + (middle >> SHIFT) + (other >> SHIFT)


@inner_kernel
def scaled(high: Word, low: Word, value: Word) -> Word:
    """Upper 64 bits of a 128-bit power times ``value``, rounded to odd."""
    middle = high * value
    total = middle + upper_half(low, value)
    upper = upper_half(high, value)
    if total < middle:
        upper += ONE
    return upper | ONE if total > ONE else upper


@inner_kernel
def shortest(bits: Word, table: np.ndarray) -> tuple[Word, int]:
    """Digits and power of ten of a finite number other than zero: the shortest, and of these the closest."""
    fraction = bits & np.uint64(0xFFFFFFFFFFFFF)
    exponent = int((bits >> np.uint64(52)) & np.uint64(0x7FF))
    whole = fraction
    binary = -1074
    if exponent != 0:
        whole = fraction | np.uint64(1 << 52)
        binary = exponent - 1075
        if -53 < binary <= 0 and whole & ((ONE << np.uint64(-binary)) - ONE) == np.uint64(0):
            return whole >> np.uint64(-binary), 0
    is_closer = fraction == np.uint64(0) and exponent > 1
    power = (binary * 1262611 - (524031 if is_closer else 0)) >> 22
    shift = np.uint64(binary + ((-power * 1741647) >> 19) + 1)
    high, low = table[-power - FIRST_POWER, 0], table[-power - FIRST_POWER, 1]
    odd = whole & ONE
    middle = scaled(high, low, (FOUR * whole) << shift)
    lower = scaled(high, low, (FOUR * whole - (ONE if is_closer else TWO)) << shift) + odd
    upper = scaled(high, low, (FOUR * whole + TWO) << shift) - odd
    digits = middle // FOUR
    if digits >= TEN:
        short = digits // TEN
        is_under, is_over = lower <= np.uint64(40) * short, np.uint64(40) * short + np.uint64(40) <= upper
        if is_under != is_over:
            return short + (ONE if is_over else np.uint64(0)), power + 1
    is_under, is_over = lower <= FOUR * digits, FOUR * digits + FOUR <= upper
    if is_under != is_over:
        return digits + (ONE if is_over else np.uint64(0)), power
    half = FOUR * digits + TWO
    rounds_up = middle > half or (middle == half and digits & ONE != np.uint64(0))
    return digits + (ONE if rounds_up else np.uint64(0)), power
