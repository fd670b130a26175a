"""Toolsets: groups of tools that a server offers. Each has a package here."""
