"""From a full draft to a Model: labels become indices, names are looked up, the whole is judged."""
