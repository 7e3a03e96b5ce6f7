"""Many parameter sets of one deck: the grid, its runs on all processors or a Dask cluster, one table."""
