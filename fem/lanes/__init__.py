"""Numbers that are many: packs of lanes, so that one kernel source runs one model or several at once."""
