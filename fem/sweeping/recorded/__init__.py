"""What a sweep records of numbers over time: statistics and fatigue damage of each run, and of a scatter diagram."""
