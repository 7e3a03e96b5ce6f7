"""Other codes: exports a deck for them, runs those that are installed, and compares the results."""
