"""Validators that bring the text of an argument into the form in which it is stored.

They run before the type is checked. They do not change values that are not texts.
"""

from collections.abc import Callable

from pydantic import BeforeValidator

from textrawl.values.text import clean_fact, clean_name


def apply(clean: Callable[[str], object]) -> BeforeValidator:
    """Return a validator that applies `clean` to text."""
    return BeforeValidator(lambda value: clean(value) if isinstance(value, str) else value)


CLEAN_NAME = apply(clean_name)
CLEAN_FACT = apply(clean_fact)
