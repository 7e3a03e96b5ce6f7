"""A rod that bends and twists beside MuJoCo 4: ``python -m benchmarks.twisted_rod --peer-python PYTHON``.

A quarter circle of a square rod, clamped at one end and at rest, falls and swings for a second. MuJoCo: a
one-dimensional flex with elasticity of a box section (``elasticity young poisson section="box"``): vertices with three
slides, a hinge about each edge for twist, edges that stretch by EA/L, no damping, semi-implicit Euler. Its first edge
is held and lies across the clamp by half, and the vertex at the tip has half a mass: without these the flex is of first
order. Error: the largest distance of the tip from that of fem with 160 bars, at ten instants, over the length.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

YOUNG, POISSON, DENSITY, SIDE, GRAVITY = 1e8, 0.3, 1200.0, 0.02, 9.81
LENGTH, PERIOD, INSTANTS, PASSES = 0.5 * np.pi, 1.0, 10, 3
OURS = ((10, 0.01), (20, 0.005), (36, 0.0025))
PEERS = ((10, 2e-4), (20, 1e-4), (40, 5e-5), (80, 2.5e-5))
FINE = (160, 5e-4)


def places(s: np.ndarray) -> np.ndarray:
    """Of the quarter circle, at lengths along it."""
    return np.column_stack([np.sin(s), 1.0 - np.cos(s), 0.0 * s])


def deck(bars: int, dt: float) -> str:
    nodes = (", ".join(map(repr, each)) for each in places(np.linspace(0.0, LENGTH, bars + 1)).tolist())
    lines = "\n".join(f"{i}, {place}" for i, place in enumerate(nodes, 1))
    return f"""*NODE
{lines}
*NSET, NSET=TIP
{bars + 1}
*ELEMENT, TYPE=B31
1, 1, 2
*ELGEN, ELSET=ROD
1, {bars}
*MATERIAL, NAME=M
*ELASTIC
{YOUNG}, {POISSON}
*DENSITY
{DENSITY}
*BEAM SECTION, ELSET=ROD, MATERIAL=M, SECTION=RECT, STRAIN=ENGINEERING
{SIDE}, {SIDE}
*BOUNDARY
1, ENCASTRE
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
{dt!r}, {PERIOD}
*DLOAD
ROD, GRAV, {GRAVITY}, 0., 0., -1.
*NODE PRINT, NSET=TIP, FREQUENCY={round(PERIOD / INSTANTS / dt)}
U
*END STEP
"""


def ours(bars: int, dt: float) -> tuple[np.ndarray, float]:
    """Places of the tip (INSTANTS, 3), and the least processor time of a run [s]."""
    import fem

    model, seconds = fem.parse_deck(deck(bars, dt)), list[float]()
    for _ in range(PASSES + 1):
        began = time.process_time()
        history = fem.run(model)
        seconds.append(time.process_time() - began)
    rows = np.searchsorted(history.time, PERIOD / INSTANTS * np.arange(1, INSTANTS + 1) - 1e-9)
    return history.of_node(bars + 1)[rows] + places(np.array([LENGTH])), min(seconds)


def peer_text(bars: int, dt: float) -> str:
    """The model as MJCF."""
    h = LENGTH / (bars - 0.5)
    points = " ".join(map(repr, places(h * (np.arange(bars + 1) - 0.5)).ravel().tolist()))
    edges = " ".join(f"{i} {i + 1}" for i in range(bars))
    mass, half = DENSITY * SIDE**2 * h * (bars + 1), 0.5 * SIDE
    return (
        f'<mujoco><option timestep="{dt!r}" gravity="0 0 {-GRAVITY}" integrator="Euler"><flag contact="disable"/>'
        f'</option><worldbody><flexcomp name="rod" type="direct" dim="1" dof="full" radius="{half!r}" mass="{mass!r}" '
        f'point="{points}" element="{edges}"><elasticity young="{YOUNG!r}" poisson="{POISSON!r}" section="box" '
        f'sectionsize="{half!r} {half!r}" damping="0"/><edge stiffness="{YOUNG * SIDE**2 / h!r}" damping="0"/>'
        '<pin id="0 1"/><contact selfcollide="none" contype="0" conaffinity="0"/></flexcomp></worldbody></mujoco>'
    )


def peer(bars: int, dt: float) -> tuple[np.ndarray, float]:
    """The same in MuJoCo."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(peer_text(bars, dt))
    model.body_mass[np.flatnonzero(model.body_mass > 1e-6)[-1]] *= 0.5  # bodies of hinges have 1e-9
    data, seconds = mujoco.MjData(model), list[float]()
    mujoco.mj_setConst(model, data)
    for _ in range(PASSES):
        mujoco.mj_resetData(model, data)
        found, began = list[np.ndarray](), time.process_time()
        for _ in range(INSTANTS):
            mujoco.mj_step(model, data, round(PERIOD / INSTANTS / dt))
            found.append(data.flexvert_xpos[-1].copy())
        seconds.append(time.process_time() - began)
    return np.array(found), min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="a Python that has MuJoCo")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        print(json.dumps([(found.tolist(), seconds) for found, seconds in (peer(*case) for case in PEERS)]))
        return
    exact, rows = ours(*FINE)[0], list[tuple[str, int, float, float, float]]()

    def add(program: str, case: tuple[int, float], found: np.ndarray, seconds: float) -> None:
        rows.append((program, *case, float(np.linalg.norm(found - exact, axis=1).max()) / LENGTH, seconds))

    for case in OURS:
        add("fem", case, *ours(*case))
    if options.peer_python:
        command = [options.peer_python, "-m", "benchmarks.twisted_rod", "--peer"]
        answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for case, (found, seconds) in zip(PEERS, answer, strict=True):
            add("MuJoCo", case, np.array(found), seconds)
    for program, bars, dt, error, seconds in rows:
        print(f"{program:7s} {bars:4d} bars  dt {dt:.2g}  error {error:.1e}  {1e3 * seconds:7.1f} ms")
    errors, times = np.array([row[3:] for row in rows if row[0] == "MuJoCo"]).reshape(-1, 2).T[:, ::-1]
    for _, bars, _, error, seconds in (row for row in rows if row[0] == "fem" and len(errors)):
        if errors[0] <= error <= errors[-1]:
            other = float(np.exp(np.interp(np.log(error), np.log(errors), np.log(times))))
            print(f"at the error {error:.1e} of {bars} bars: MuJoCo {1e3 * other:.0f} ms, {other / seconds:.1f} times")


if __name__ == "__main__":
    sys.exit(main())
