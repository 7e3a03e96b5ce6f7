"""Bars of ropes with memory: tables that remember the largest strain, viscoelastic series, dynamic stiffness."""
