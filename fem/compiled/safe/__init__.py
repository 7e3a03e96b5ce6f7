"""Whose files and folders these are: only what the user (or root) alone may write is run."""
