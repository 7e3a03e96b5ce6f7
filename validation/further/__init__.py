"""Open questions of the paper on the forced string pendulum, one file for each: rows, figures, remarks."""
