"""Structures as decks: prisms, polygons and others, with force densities as natural lengths."""

from __future__ import annotations

import numpy as np

FREE: tuple = ()
HEAD = "*NODE, NSET=ALL\n{nodes}*ELEMENT, TYPE=T3D2, ELSET=BARS\n{elements}*MATERIAL, NAME=M\n*ELASTIC\n{young!r}\n"
SECTION = "*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN={strain}\n1.\n"
STATIC = "*STEP, NLGEOM\n*STATIC\n1., 1.\n*END STEP\n"


def deck(x, bars, q, held=FREE, young=1e6, strain="ENGINEERING", steps=STATIC, between=""):
    """A deck of bars of area 1 with force densities q. held: (node from 0, dof from 1)"""
    x, bars = np.asarray(x, float), np.asarray(bars)
    length = np.linalg.norm(x[bars[:, 1]] - x[bars[:, 0]], axis=1)
    force = np.asarray(q) * length
    rest = length * young / (young + force)
    if strain == "GREEN":  # N L0 / L = E (L^2 - L0^2) / (2 L0^2)
        rest = length.copy()
        for _ in range(60):
            rest = length / np.sqrt(1.0 + 2.0 * force * rest / (length * young))
    nodes = "".join(f"{k + 1}, {a!r}, {b!r}, {c!r}\n" for k, (a, b, c) in enumerate(x.tolist()))
    elements = "".join(f"{k + 1}, {i + 1}, {j + 1}\n" for k, (i, j) in enumerate(bars.tolist()))
    text = HEAD.format(nodes=nodes, elements=elements, young=young) + SECTION.format(strain=strain)
    text += "*REST LENGTH\n" + "".join(f"{k + 1}, {value!r}\n" for k, value in enumerate(rest.tolist()))
    if held:
        text += "*BOUNDARY\n" + "".join(f"{node + 1}, {dof}\n" for node, dof in held)
    return text + between + steps


def prism(n=3, h=1, v=1, high=1.5, radius=1.0, off=0.0):
    """Positions, members and force densities of a prism of n struts; ``off``: twist added [radians]."""
    i = np.arange(n)
    angle, twist = 2.0 * np.pi * i / n, np.pi * v / n + np.pi / 2.0 + off
    low = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    top = np.column_stack([np.cos(angle + twist), np.sin(angle + twist), 0.0 * angle + high / radius])
    lines = [(i, (i + h) % n), (n + i, n + (i + h) % n), (i, n + i), (i, n + (i - v) % n)]
    bars = np.concatenate([np.column_stack(each) for each in lines])
    side = np.sin(np.pi * v / n) / (2.0 * np.sin(np.pi * h / n) ** 2)
    return radius * np.concatenate([low, top]), bars, np.concatenate([np.full(2 * n, side), -np.ones(n), np.ones(n)])


def square():
    """A unit square with diagonals, sides in tension."""
    x = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], float)
    return x, np.array([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]), np.array([1.0, 1, 1, 1, -1, -1])


def six_struts():
    """The six-strut tensegrity with struts of length 2 at distance 1."""
    x = np.array([(0.5 * s, t, 0.0) for s in (-1, 1) for t in (-1, 1)])
    x = np.concatenate([np.roll(x, k, axis=1) for k in range(3)])
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    pairs = np.array([(i, j) for i in range(12) for j in range(i + 1, 12)])
    length = apart[pairs[:, 0], pairs[:, 1]]
    struts, cables = pairs[np.abs(length - 2.0) < 1e-9], pairs[np.abs(length - np.sqrt(1.5)) < 1e-9]
    return x, np.concatenate([struts, cables]), np.concatenate([np.full(len(struts), -1.5), np.ones(len(cables))])


SIMPLEX = """*NODE
1, 0, -2043.82, 0
2, 0, 0, 0
3, 1770, -1021.91, 0
4, 590, -2201.91, 1950
5, -431.91, -431.91, 1950
6, 1611.91, -431.91, 1950
*ELEMENT, TYPE=T3D2, ELSET=STRUTS
1, 3, 5
2, 2, 4
3, 1, 6
*ELEMENT, TYPE=T3D2, ELSET=CABLES
4, 2, 3
5, 1, 2
6, 1, 3
7, 5, 6
8, 4, 5
9, 4, 6
*ELEMENT, TYPE=T3D2, ELSET=VERTICALS
10, 3, 6
11, 2, 5
12, 1, 4
*MATERIAL, NAME=STRUT
*ELASTIC
70390
*MATERIAL, NAME=CABLE
*ELASTIC
71750
*NO COMPRESSION
*MATERIAL, NAME=VERTICAL
*ELASTIC
72190
*NO COMPRESSION
*SOLID SECTION, ELSET=STRUTS, MATERIAL=STRUT, STRAIN=ENGINEERING
364.4
*SOLID SECTION, ELSET=CABLES, MATERIAL=CABLE, STRAIN=ENGINEERING
50.3
*SOLID SECTION, ELSET=VERTICALS, MATERIAL=VERTICAL, STRAIN=ENGINEERING
50.3
*BOUNDARY
1, 1
1, 3
2, 1
2, 2
2, 3
3, 3
*STEP, NLGEOM
*STATIC
*END STEP
"""
"""The simplex of Feron et al. 2023 on three supports, without prestress [N, mm]."""
