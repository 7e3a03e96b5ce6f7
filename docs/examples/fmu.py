"""A crane as a functional mock-up unit, moved by FMPy."""

from pathlib import Path

import fmpy
import numpy as np

import fem

INTERVAL = 0.1  # of the exchange [s]

Path("results").mkdir(exist_ok=True)
unit = fem.export_fmu("inputs/driven_crane.inp", "results/crane.fmu", ["U1_n2", "T_e1"], ["TROLLEY"], force=True)

time = np.array([0.0, 4.0, 10.0])  # the trolley moves 2 m in 4 s, and stops
signal = np.array(list(zip(time, [0.0, 2.0, 2.0], strict=True)), dtype=[("time", float), ("TROLLEY", float)])
result = fmpy.simulate_fmu(str(unit), stop_time=10.0, output_interval=INTERVAL, input=signal)

with fem.stepper("inputs/driven_crane.inp") as sim:
    places = [sim.u(2)[0]]
    for instant in result["time"][:-1]:  # a unit is given the input at the beginning of an interval
        sim["TROLLEY"] = float(np.interp(instant, time, signal["TROLLEY"]))
        sim.advance(INTERVAL)
        places.append(sim.u(2)[0])

print(f"load at x = {result['U1_n2'][-1]:.3f} m after 10 s, largest x {result['U1_n2'].max():.3f} m")
print(f"largest difference from fem.stepper {abs(result['U1_n2'] - places).max():.9f} m")
