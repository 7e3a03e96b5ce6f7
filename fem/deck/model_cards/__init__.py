"""Cards that describe the structure: mesh, sets, materials, properties, amplitudes, constraints, initial state."""
