"""How tables get on the disk."""
