"""What a run leaves behind: tables, fields, a record, a history, lines on the console.

Everything here is a ``Sink`` (``record.py``) or reads what a sink has written; nothing knows the solver.
"""
