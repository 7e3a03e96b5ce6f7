"""Pulls of stiff bars and rods that wait for the next node of a chain: what makes elimination along rods safe.

Eliminating node i leaves of the bar to its parent j, with the numbers of ``solve/linear/chain.py``,

    (1/alpha + q.Xp) pull = (q - b X^T q).dj - q.Xr + gap,        on j acts - (p - b Xp) pull,  tau = +- pull

Where the flexibility 1/alpha + q.Xp is small, node i cannot move along the rod: it is fixed, or another rod holds it in
that direction, and of q.Xp little more than round-off may be left. Dividing by it would hand noise on to j. Instead
the pull *waits* as an unknown of node j, whose own flexibility is added to that of the rod: with a = p - b Xp,
c = q - b X^T q and Y = (Dj + ...)^-1 before,

    pull = s (c.Yr + c.k - along),  s = 1/(flexibility + c.Ya),    Y -= s Ya (c^T Y),    k -= s Ya (c.k - along)

so that no pivot is smaller than what is known of it, whatever the angles between the rods.
Source: delayed pivots; Duff & Reid, ACM Trans. Math. Softw. 9 (1983) 302-325.
"""

from __future__ import annotations

from fem.arrays import Floats, Index, Ints, Vector
from fem.compiled import inner_kernel
from fem.lanes.choose import common, some
from fem.solve.linear.block import SMALLEST_PIVOT

# What is kept of the child of a node: a; c, then s Y^T c; flexibility, then the pull but for what the parent adds;
# along; whether the pull waits, then the child pinned before it; and of a node itself, the child pinned last
A, C, PULL, ALONG, BEFORE, LAST = 0, 3, 6, 7, 8, 9
PINNED = 10
NOT_WAITING, WAITING = -2.0, -1.0
STIFF = 1e-3
"""Part of the flexibility of a node below which a pull waits: three digits may be lost at most, and at each node."""


@inner_kernel
def wait(i: Index, a: Vector, c: Vector, flexibility: float, along: float, pinned: Floats) -> None:
    """The pull between node i and its parent waits for the parent."""
    pinned[i, A], pinned[i, A + 1], pinned[i, A + 2] = a
    pinned[i, C], pinned[i, C + 1], pinned[i, C + 2] = c
    pinned[i, PULL], pinned[i, ALONG], pinned[i, BEFORE] = flexibility, along, WAITING


@inner_kernel
def pin(
    i: Index, child: Index, largest: float, inverse: Floats, load: Vector, k: Vector, pinned: Floats
) -> tuple[bool, Vector]:
    """Take up the pull that waits at a child of node i, whose displacement is inverse (load) + k.

    Projects ``inverse[i]``, returns the new k. largest: of the diagonal of the inverse before anything was pinned
    """
    r0, r1, r2 = load
    k0, k1, k2 = k
    a0, a1, a2 = pinned[child, A], pinned[child, A + 1], pinned[child, A + 2]
    c0, c1, c2 = pinned[child, C], pinned[child, C + 1], pinned[child, C + 2]
    xa0 = inverse[i, 0] * a0 + inverse[i, 1] * a1 + inverse[i, 2] * a2
    xa1 = inverse[i, 3] * a0 + inverse[i, 4] * a1 + inverse[i, 5] * a2
    xa2 = inverse[i, 6] * a0 + inverse[i, 7] * a1 + inverse[i, 8] * a2
    y0 = inverse[i, 0] * c0 + inverse[i, 3] * c1 + inverse[i, 6] * c2
    y1 = inverse[i, 1] * c0 + inverse[i, 4] * c1 + inverse[i, 7] * c2
    y2 = inverse[i, 2] * c0 + inverse[i, 5] * c1 + inverse[i, 8] * c2
    pivot = pinned[child, PULL] + c0 * xa0 + c1 * xa1 + c2 * xa2
    size = (abs(a0) + abs(a1) + abs(a2)) * (abs(c0) + abs(c1) + abs(c2)) * largest
    is_safe: bool = abs(pivot) > SMALLEST_PIVOT * size
    if not some(is_safe):
        return is_safe, k
    s = 1.0 / pivot
    y0, y1, y2 = s * y0, s * y1, s * y2
    rest = s * (c0 * k0 + c1 * k1 + c2 * k2 - pinned[child, ALONG])
    for m in range(3):
        xa = xa0 if m == 0 else xa1 if m == 1 else xa2
        inverse[i, 3 * m] -= xa * y0
        inverse[i, 3 * m + 1] -= xa * y1
        inverse[i, 3 * m + 2] -= xa * y2
    pinned[child, C], pinned[child, C + 1], pinned[child, C + 2] = y0, y1, y2
    pinned[child, PULL] = rest + y0 * r0 + y1 * r1 + y2 * r2
    pinned[child, BEFORE], pinned[i, LAST] = pinned[i, LAST], child
    return is_safe, (k0 - xa0 * rest, k1 - xa1 * rest, k2 - xa2 * rest)


@inner_kernel
def unpin(i: Index, link: Ints, sign: Floats, pinned: Floats, block: Floats, load: Vector, tau: Floats) -> None:
    """The pulls that ``pin`` took up at node i, the last one first: each is part of the load of those before it.

    load: what came on top of the residual of node i
    """
    load0, load1, load2 = load
    child = int(common(pinned[i, LAST]))
    while child >= 0:
        pull = pinned[child, PULL] + pinned[child, C] * load0
        pull += pinned[child, C + 1] * load1 + pinned[child, C + 2] * load2
        tau[link[child]] = sign[child] * pull
        block[child, 6] = -pull  # where the child looks for it on the way back
        load0 -= pull * pinned[child, A]
        load1 -= pull * pinned[child, A + 1]
        load2 -= pull * pinned[child, A + 2]
        child = int(common(pinned[child, BEFORE]))
