"""Linear solvers of the march: chain and band compiled, direct (SciPy) outside."""
