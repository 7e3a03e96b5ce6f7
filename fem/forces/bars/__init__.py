"""Two-node bars: laws, strains, what they do to their nodes."""
