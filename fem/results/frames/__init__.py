"""Results as the tools of notebooks want them: pandas, xarray, HTML with a small plot."""
