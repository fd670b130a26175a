"""Commands, a module for each.

This file imports nothing, so that a command loads no other.
"""
