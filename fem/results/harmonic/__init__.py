"""What is written of harmonic motions."""
