"""The one compiled Newton loop (``march``) and its parts."""
