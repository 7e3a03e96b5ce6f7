"""A floater of your own in surge and heave, coupled implicitly to a mooring line of fem."""

import numpy as np

import fem

MASS = 4e5  # with added mass [kg]
STIFFNESS = np.array([0.0, 1025 * 9.81 * 30])  # hydrostatics: a waterplane of 30 m^2 [N/m]
DAMPING = np.array([2e4, 4e4])  # [N s/m]


def rate(time, state, line):
    """(velocity, acceleration); waves that grow in 20 s, force ``line`` of the line [N]."""
    waves = min(1.0, time / 20) * np.array([8e4 * np.sin(0.8 * time), 6e4 * np.cos(0.8 * time)])
    return np.array([state[1], (waves + line - STIFFNESS * state[0] - DAMPING * state[1]) / MASS])


def advance(time, state, interval, first, last):
    """State after an interval (Runge-Kutta), in which the force of the line changes from ``first`` to ``last``."""
    k1, half = rate(time, state, first), (first + last) / 2
    k2 = rate(time + interval / 2, state + interval / 2 * k1, half)
    k3 = rate(time + interval / 2, state + interval / 2 * k2, half)
    return state + interval / 6 * (k1 + 2 * k2 + 2 * k3 + rate(time + interval, state + interval * k3, last))


def coupled(sim, interval, count, most=20, tolerance=0.01):
    """(count + 1, 2, 2) positions and velocities; an interval is repeated until the line's force is known [N]."""
    states, force, at_rest = [np.zeros((2, 2))], np.zeros(2), -sim.reaction(21)[::2]  # in equilibrium at the start
    for number in range(count):
        kept, first = sim.save(), force
        for _ in range(most):
            state = advance(number * interval, states[-1], interval, first, force)
            sim.restore(kept)
            sim["SURGE"], sim["HEAVE"] = zip(*state, strict=True)  # position and velocity of each
            sim.advance(interval)
            before, force = force, -sim.reaction(21)[::2] - at_rest
            if abs(force - before).max() < tolerance:
                break
        states.append(state)
    return np.array(states)


if __name__ == "__main__":
    with fem.stepper("inputs/coupled_line.inp") as sim:
        motion = coupled(sim, interval=0.2, count=200)
        print(f"surge up to {abs(motion[:, 0, 0]).max():.3f} m, tension {sim.tension(20) / 1e3:.1f} kN at the end")
