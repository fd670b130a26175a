"""The values of the settings for pydantic, as `environment` finds them."""

from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from textrawl.environment import find_value, read_sources


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
