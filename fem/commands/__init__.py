"""What the command line has in common."""
