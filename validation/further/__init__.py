"""What the paper of the forced string pendulum left to do, a theme a file: rows, figures, remarks."""
