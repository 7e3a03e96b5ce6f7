"""Lines: at rest, as functions of numbers; and decks of them, with a catalogue, sag and tension, vibration, pendulums.

Cables that hang between two ends, and lie on the bottom, are chains of bars with weights at nodes. What is found is in
equilibrium as it stands, bar by bar, not a curve sampled at nodes: chords are shorter than arcs, so stiff bars between
the points of a curve would all be slack.
"""
