"""The study behind error bars: decks with an answer that this program has no part in, and whether bars hold it."""
