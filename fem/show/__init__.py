"""What is made of the files of runs: figures, films, reports, cycles and ranges. Reads them through ``fem.runs``."""
