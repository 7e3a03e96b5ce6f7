"""Small perturbations carried along a motion: the tangent map of an increment, exact for every implicit scheme."""
