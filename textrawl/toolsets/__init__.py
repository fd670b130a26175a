"""Toolsets: groups of tools that a server offers, a package each, and what they share."""
