"""Decks of pendulums, mooring lines and spans from a few numbers; decks from the input files of MoorDyn v2."""
