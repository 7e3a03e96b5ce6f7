"""What the page shows, as plain numbers: of decks, of models, of the files of a run. Nothing here knows a browser."""
