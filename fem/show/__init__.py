"""Output made from results folders: figures, films, reports, cycles and ranges. Reads them through ``fem.runs``."""
