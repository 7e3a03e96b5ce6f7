"""Is it right? Cases that run the program, and references that share no code with it."""
