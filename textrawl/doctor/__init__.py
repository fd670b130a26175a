"""Checks of everything that a call needs, and the settings as text.

`textrawl doctor` and the health page of the explorer show both.
"""
