"""Commands, one module for each.

This file imports nothing, so that a command loads only its own module.
"""
