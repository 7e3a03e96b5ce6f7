"""Many runs of a deck: sweeps, sections, Lyapunov exponents, basins, periodic orbits, continuation."""
