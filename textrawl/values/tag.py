"""Tags of memories."""

import re
import unicodedata

TAG_LENGTH = 100
_OTHER = re.compile(r"[^\w-]")
_REPEATED = re.compile(r"([_-])[_-]+")


def clean_tag(tag: str) -> str:
    """Return the stored form of a tag: lower case, - for a full stop, _ for other signs.

    Raises ValueError if nothing is left.
    """
    plain = unicodedata.normalize("NFC", tag).strip().lower().replace(".", "-")
    kept = _REPEATED.sub(r"\1", _OTHER.sub("_", plain)).strip("_-")
    if not kept:
        raise ValueError(f"{tag!r} is no tag: a tag needs a letter or a digit")
    return kept
