"""From bytes to cards: files, lines, fields, parameters. Knows commas and asterisks, no keyword's meaning."""
