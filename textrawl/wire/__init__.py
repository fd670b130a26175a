"""The wire format: arguments as models send them, and replies as models read them."""
