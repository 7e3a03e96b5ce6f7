"""Common parts of the command line."""
