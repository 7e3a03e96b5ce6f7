"""Reports: one HTML page, whole in itself, of what is in a folder of results."""
