"""Runs that are killed, starved of room and started on damaged files: what they leave behind, and how they end."""
