"""Types of fields that hold a column of SQL: how its value becomes the value of an answer."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

UuidText = Annotated[str, BeforeValidator(str)]
"""The text of a UUID."""
IS_SET = BeforeValidator(lambda value: bool(value) or None)
"""Makes a value true, and an empty value None."""
ROUNDED = AfterValidator(lambda value: None if value is None else round(value, 4))
SIX_DIGITS = AfterValidator(lambda value: None if value is None else round(value, 6))
"""`ROUNDED` rounds a number to four digits, and `SIX_DIGITS` to six."""


Seconds = Annotated[
    int,
    BeforeValidator(lambda at: int(at.timestamp()) if isinstance(at, datetime) else at),
]
"""An instant in seconds since 1970."""
