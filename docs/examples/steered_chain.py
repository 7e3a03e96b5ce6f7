"""A chain steered from a notebook: run a cell, look at the result, decide, run the next one."""

import fem

sim = fem.stepper("inputs/steered_chain.inp")
mesh = sim.model.mesh
along = mesh.node_labels.argsort()  # nodes are in the order of the deck, the right end (31) before 2


def lead(x, z, seconds):
    """Move the right end to a position, from rest to rest. Returns the shape (n, 2) at the end."""
    sim["X"], sim["Z"] = (x - 2.0, 0.0), (z, 0.0)
    sim.advance(seconds)
    place = (mesh.coordinates + sim.u("CHAIN"))[along]
    print(f"t = {sim.time:4.1f} s: lowest point {place[:, 2].min():.3f} m, tension {sim.tension('LINKS').max():.2f} N")
    return place[:, [0, 2]]


# %%
shapes = [lead(2.6, 0.0, 1.0)]
# %%
here = sim.save()
shapes.append(lead(0.5, 0.5, 0.4))  # too fast?
# %%
sim.restore(here)
shapes.append(lead(0.5, 0.5, 3.0))
