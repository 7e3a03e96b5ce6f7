"""A page in the browser: forms, runs in processes of their own, and what the files of a run show."""
