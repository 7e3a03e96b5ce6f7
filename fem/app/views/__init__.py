"""Parts of the page that several places share."""
