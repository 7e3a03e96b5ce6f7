"""``*PARAMETER``: arithmetic, the table of what is known, numbers that know how they follow from parameters."""
