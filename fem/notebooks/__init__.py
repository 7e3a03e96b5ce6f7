"""What Python asks for beside commands: results read back, frequencies, models put together without a deck."""
