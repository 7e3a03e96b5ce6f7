"""Linear systems of a ``Tangent``: products, chain and band compiled, Krylov solvers, sparse factors (SciPy)."""
