"""Tables of what a model stands in."""
