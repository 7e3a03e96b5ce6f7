"""Lines between two ends, moored in water or spanned in wind, from a few numbers to a deck."""
