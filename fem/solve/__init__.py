"""Time schemes, the compiled Newton march, linear solvers, statics and the increment loop."""
