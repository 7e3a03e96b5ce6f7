"""Time schemes, Newton's method in machine code, linear solvers, statics and the increment loop."""
