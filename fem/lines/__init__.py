"""Static shapes of lines as functions of numbers; decks of lines, with a catalogue, sag and tension, vibration,
pendulums.

Cables that hang between two ends, and lie on the bottom, are chains of bars with weights at nodes. The solution is
in equilibrium bar by bar, unlike points on a curve: chords are shorter than arcs, so stiff bars between the points
of a curve would all be slack.
"""
