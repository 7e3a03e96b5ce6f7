"""Speed and answers of fixed work, beside other programs: ``python -m benchmarks --help``."""
