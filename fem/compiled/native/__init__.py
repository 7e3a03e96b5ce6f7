"""Machine code and the outside: arrays as kernels see them, and how Python's objects get in."""
