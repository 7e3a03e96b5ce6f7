"""Lines at rest: cables that hang between two ends, and lie on the bottom, as chains of bars with weights at nodes.

Functions of numbers alone; what they find is in equilibrium as it stands, bar by bar, not a curve sampled at nodes:
chords are shorter than arcs, so stiff bars between the points of a curve would all be slack.
"""
