"""What the cases measure with."""

import numpy as np
import pytest

from validation import tools


def test_crossings_are_exact_for_a_cubic():
    t = np.array([0.0, 1.0, 2.5])
    x = lambda s: (s - 0.3) * (s + 1) * (s - 4)  # noqa: E731
    v = lambda s: (s + 1) * (s - 4) + (s - 0.3) * (2 * s - 3)  # noqa: E731
    assert tools.crossings(t, x(t), v(t)) == pytest.approx([0.3], abs=1e-14)


def test_crossings_of_a_cosine_are_of_fourth_order():
    errors = []
    for n in (10, 20):
        t = np.linspace(0, 2 * np.pi, n + 1) + 0.1
        found = tools.crossings(t, np.cos(t), -np.sin(t))
        errors.append(np.abs(found - [np.pi / 2, 3 * np.pi / 2]).max())
    assert errors[1] < errors[0] / 12


def test_orders_are_those_of_the_errors():
    assert tools.orders(np.array([1.0, 0.25, 0.03125])) == pytest.approx([2, 3])


def test_figures_are_labelled_and_keep_the_legend_off_the_data():
    sheet = tools.convergence("title", "step", "error", np.array([0.1, 0.05]), np.array([1.0, 0.25]), 2.0)
    axes = sheet.axes[0]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("title", "step", "error")
    assert axes.get_legend().get_bbox_to_anchor().x0 >= axes.bbox.x1
