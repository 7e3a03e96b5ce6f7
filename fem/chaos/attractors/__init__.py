"""Which attractor each start ends on: runs until sections repeat, sections compared, tables and a picture."""
