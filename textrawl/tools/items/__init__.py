"""The `items` toolset: JSON values under a namespace and a key, and logs."""
