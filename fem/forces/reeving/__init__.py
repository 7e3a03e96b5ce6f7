"""Lines that run: bars that a winch makes shorter and longer, ropes over pulleys."""
