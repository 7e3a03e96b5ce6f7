"""A folder with the results of a run: whose it is, what is written into it as a run goes, and how that is read again.

What the solver gives goes to sinks (``record.py``), which know nothing of it.
"""
