"""Model to arrays: element blocks, supports, loads and constraints, ready for the kernels."""
