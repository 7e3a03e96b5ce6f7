"""Pendulums of N links, from a few numbers to a deck."""
