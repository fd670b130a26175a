"""The explorer: web pages on which people look into a memory. `EXPLORER` turns it on."""
