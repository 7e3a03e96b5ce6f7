"""Many parameter sets of one small model at once: lanes of the same kernels, blocks of lanes over threads."""
