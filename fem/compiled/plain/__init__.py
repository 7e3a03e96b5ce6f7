"""Plain numba in place of our own way to machine code: when it is taken, and how kernels are compiled then."""
