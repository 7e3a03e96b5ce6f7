"""Explicit dynamics: the march by central differences and the largest increment it may take."""
