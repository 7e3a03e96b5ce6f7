"""Decks from the input files of MoorDyn v2."""
