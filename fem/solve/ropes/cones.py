"""Pulls of lengths together with Coulomb's friction as one equation, z = P(z - r (W z - right)), and its derivative.

The laws, and the method if Newton's iteration does not converge, are in ``complementarity.py``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.compiled import called_kernel, shared_kernel
from fem.linear.dense import eliminate
from fem.solve.newton.groups import room

EXACT = 1e-10
"""Largest error of the solution, as a fraction of the largest load."""
STEPS = 8
"""Number of steps of Newton's method before it is restarted."""


class Cones(NamedTuple):
    """Of c lengths, then the first tangents of f contacts, then their second ones; of q = c + 2f rows or more.

    one_sided (q,)  of lengths: it pulls only;  contact, friction (q,)  of tangents: index of their length; mu
    compliance (q, q) W;  jacobian (q, q + 1), numbers (5, q)  room: J and z - P(y); ``RIGHT`` to ``ALLOWED``
    """

    one_sided: Flags
    contact: Ints
    friction: Floats
    compliance: Floats
    jacobian: Floats
    numbers: Floats


def cones_of(size: int) -> Cones:
    """Arrays for a number of pulls; none is one-sided or has friction yet."""
    flags, ints = np.zeros(size, np.bool_), np.zeros(size, np.int64)
    square = room((size, size)), room((size, size + 1))
    return Cones(flags, ints, room(size), *square, room((5, size)))


RIGHT, PULL, TRIAL, STEP, ALLOWED = range(5)
"""Rows of ``Cones.numbers``: load; z; y = z - r (W z - right); r; allowed z - P(y) (initially: rounding errors of
loads)."""


@shared_kernel
def open_cones(count: int, contacts: int, cones: Cones) -> bool:
    """Sets steps r, equal for both tangents of a contact, and the allowed error. False: nothing changes a length."""
    numbers, compliance, most, size = cones.numbers, cones.compliance, count + 2 * contacts, 0.0
    for row in range(count):
        if not compliance[row, row] > 0.0:
            return False
        numbers[STEP, row] = 1.0 / compliance[row, row]
    for first in range(count, count + contacts):
        own, normal = 0.0, compliance[cones.contact[first], cones.contact[first]]
        for t in range(2):
            row = first + t * contacts
            if compliance[row, row] <= 0.0 and numbers[RIGHT, row] == 0.0:
                compliance[row, row] += normal  # neither can move in that direction (across a plane model): ignored
            own += compliance[row, row]
        for t in range(2):
            numbers[STEP, first + t * contacts] = 1.0 / (own if own > 0.0 else normal)
    for row in range(most):
        size = max(size, math.sqrt(numbers[STEP, row]) * abs(numbers[RIGHT, row]))
    for row in range(most):
        root = math.sqrt(numbers[STEP, row])
        numbers[ALLOWED, row] = root * (EXACT * size + root * numbers[ALLOWED, row])
    return True


@shared_kernel
def linearise_cones(count: int, contacts: int, cones: Cones) -> bool:
    """Computes J = 1 - dP/dy (1 - r W) and z - P(y); returns whether the latter is within the allowed error."""
    numbers, jacobian, most, is_right = cones.numbers, cones.jacobian, count + 2 * contacts, True
    for row in range(most):
        off = -numbers[RIGHT, row]
        for column in range(most):
            off += cones.compliance[row, column] * numbers[PULL, column]
            jacobian[row, column] = numbers[STEP, row] * cones.compliance[row, column]
        jacobian[row, most] = numbers[STEP, row] * off
        numbers[TRIAL, row] = numbers[PULL, row] - jacobian[row, most]
    for first in range(count, count + contacts):
        second, contact, friction = first + contacts, cones.contact[first], cones.friction[first]
        x, y, push = numbers[TRIAL, first], numbers[TRIAL, second], max(numbers[TRIAL, contact], 0.0)
        size, limit = math.hypot(x, y), friction * push
        if size > limit:  # slides: P(y) = limit (x, y)/size
            x, y, part = x / size, y / size, limit / size
            for column in range(most):
                of_first, of_second = 1.0 if column == first else 0.0, 1.0 if column == second else 0.0
                a, b = of_first - jacobian[first, column], of_second - jacobian[second, column]
                push = (1.0 if column == contact else 0.0) - jacobian[contact, column]
                push = (friction * push if limit > 0.0 else 0.0) - part * (x * a + y * b)
                jacobian[first, column] = of_first - part * a - x * push
                jacobian[second, column] = of_second - part * b - y * push
            jacobian[first, most] = numbers[PULL, first] - limit * x
            jacobian[second, most] = numbers[PULL, second] - limit * y
    for row in range(count):
        if cones.one_sided[row] and numbers[TRIAL, row] <= 0.0:
            for column in range(most):
                jacobian[row, column] = 1.0 if column == row else 0.0
            jacobian[row, most] = numbers[PULL, row]
    for row in range(most):
        is_right = is_right and abs(jacobian[row, most]) <= numbers[ALLOWED, row]
    return is_right


@called_kernel
def find_pulls(count: int, contacts: int, cones: Cones) -> bool:
    """Solves for z by Newton's method, starting from zero; False if a few steps do not find it."""
    numbers, most = cones.numbers, count + 2 * contacts
    if not open_cones(count, contacts, cones):
        return False
    for row in range(most):
        numbers[PULL, row] = 0.0
    for step in range(STEPS + 1):
        if linearise_cones(count, contacts, cones) and step > 0:
            for row in range(count):
                is_slack = cones.one_sided[row] and numbers[TRIAL, row] <= 0.0
                numbers[PULL, row] = 0.0 if is_slack else numbers[PULL, row]
            return True
        if not eliminate(most, most + 1, cones.jacobian):
            return False
        for row in range(most):
            numbers[PULL, row] -= cones.jacobian[row, most]
    return False
