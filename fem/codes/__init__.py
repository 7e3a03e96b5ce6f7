"""One deck in other codes: what writes a deck for them, runs those that are installed, and compares the answers."""
