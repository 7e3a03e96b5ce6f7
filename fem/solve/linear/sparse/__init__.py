"""Sparse matrices and their factorisations by libraries."""
