"""Length and weight of a line from three measured tensions: least squares, with a deck as the model."""

from scipy.optimize import least_squares

import fem

SPANS, MEASURED = (380.0, 400.0, 420.0), (82.1e3, 88.3e3, 99.5e3)  # [m], [N]
deck = fem.prepare("inputs/catenary.inp")


def misfit(scaled):
    """Relative errors of the tensions at the upper end."""
    length, weight = 500.0 * scaled[0], 200.0 * scaled[1]
    runs = (deck.run({"span": span, "length": length, "weight": weight}) for span in SPANS)
    return [run.of_element(50, "T")[-1] / measured - 1 for run, measured in zip(runs, MEASURED, strict=True)]


found = least_squares(misfit, x0=[1.02, 0.8], diff_step=1e-4)
print(f"length {500 * found.x[0]:.2f} m, weight {200 * found.x[1]:.1f} N/m, misfit {max(abs(found.fun)):.1e}")
