"""Rods: bars that keep their length, as constraints with multipliers. What they need beyond the march."""
