"""The figures: each function takes results and gives figures by name, or raises ``Missing`` with the reason."""
