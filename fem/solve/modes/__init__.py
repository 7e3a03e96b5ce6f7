"""Natural frequencies about the current state: the pencil, its factors, the search for the lowest modes."""
