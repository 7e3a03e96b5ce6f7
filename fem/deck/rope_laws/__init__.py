"""Materials of ropes: their cards, and what must fit together."""
