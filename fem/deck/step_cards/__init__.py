"""Cards between ``*STEP`` and ``*END STEP``: procedure, controls, loads, output."""
