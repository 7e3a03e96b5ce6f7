"""One instant at which ropes change: impulses, which of them are taut afterwards, what they pull."""
