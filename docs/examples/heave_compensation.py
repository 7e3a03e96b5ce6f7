"""Active heave compensation: a winch keeps a load still, using only the measured tension."""

import numpy as np

import fem

MASS, GAIN, MEMORY = 50e3, 6.0, 30.0  # load with added mass [kg]; [1]; [s]
FASTEST, INTERVAL = 1.5, 0.1  # of the winch [m/s], of the controller [s]


def motion(compensated):
    """Heights of the tip and of the load (n, 2), measured from the start."""
    heights = []
    with fem.stepper("inputs/heave_compensation.inp") as sim:
        at_rest, speed = sim.tension(1), 0.0
        while not sim.is_finished:
            acceleration = (sim.tension(1) - at_rest) / MASS
            speed += INTERVAL * (acceleration - speed / MEMORY)  # of the load
            pay_out = np.clip(GAIN * speed, -FASTEST, FASTEST)
            sim["WINCH"] = sim["WINCH"] + INTERVAL * pay_out * compensated
            sim.advance(INTERVAL)
            heights.append((sim.u(1)[2], sim.u(2)[2]))
    return np.array(heights)


for compensated in (False, True):
    tip, load = motion(compensated)[150:].std(axis=0)
    print(f"compensated {compensated}: tip {tip:.3f} m, load {load:.3f} m (standard deviations)")
