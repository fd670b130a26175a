"""The values of the settings for pydantic, as `environment` finds them."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from textrawl.environment import Source, find_value, read_sources


def describe_withheld(source: Source, names: Sequence[str]) -> str:
    """Return a line that says which settings of a file are ignored, and how to allow them."""
    return (
        f"{source.label} sets {', '.join(names)}, which textrawl ignores there, because a "
        "repository can bring this file. If you trust it, run textrawl trust "
        f"{quote(str(Path(source.label).parent))}"
    )


class SettingSource(PydanticBaseSettingsSource):
    """The values of all settings that a source contains."""

    def __init__(self, settings_class: type[BaseSettings]) -> None:
        super().__init__(settings_class)
        self._sources = read_sources()

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the value of a setting (or None), its name, and False.

        False tells pydantic that the value is not JSON.
        """
        found = find_value(field_name, self._sources)
        return found and found.text, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the values of all settings that a source contains."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields}
        return {name: value for name, value in values.items() if value is not None}
