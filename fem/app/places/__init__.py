"""The four places to start from: a pendulum, a line, a deck, a folder of results."""
