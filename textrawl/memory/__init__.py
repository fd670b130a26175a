"""An open memory: its database, its embedding model, and the work that needs both."""
