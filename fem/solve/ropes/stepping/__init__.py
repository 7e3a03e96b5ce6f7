"""Parts of Moreau-Jean time stepping: lengths of ropes and rods, what impulses may do, the energy balance."""
