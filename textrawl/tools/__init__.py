"""Toolsets: groups of tools that a server offers. Each toolset has a package here."""
