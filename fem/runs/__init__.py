"""Results folders: their ownership, what a run writes into them, and reading it again.

The solver sends its results to sinks (``record.py``), which know nothing of the solver.
"""
