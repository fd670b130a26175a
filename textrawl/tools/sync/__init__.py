"""The `sync` toolset: instances share the identity files and the journal of a space."""
