"""The wire: arguments as models send them, and replies as they are written back."""
