"""The page in the browser: forms, runs in separate processes, and displays of the files of a run."""
