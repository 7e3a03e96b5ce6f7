"""Physics as pure functions of arrays, compiled; no input or output, no classes with behaviour."""
