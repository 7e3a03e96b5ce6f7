"""Questions asked of a motion: Lyapunov exponents, stroboscopic sections, periods, bifurcation diagrams."""
