"""Files of ours among files of others: what may be written, replaced or removed, whole files, one writer at a time."""
