"""Texts that clients and hooks add to a message, in elements such as <system-reminder>."""

import re


def drop_elements(text: str, opening: re.Pattern[str], put: str = "") -> str:
    """Replace each element of a text by `put`. An element without an end stays.

    `opening` matches the opening tag. Its first group is the name of the element. The time grows
    with the length of the text: the end of a name is not looked for again after it was missing.
    """
    kept, place, endless = list[str](), 0, set[str]()
    for tag in opening.finditer(text):
        name = tag[1]
        if tag.start() < place or name in endless:
            continue
        closing = f"</{name}>"
        end = text.find(closing, tag.end())
        if end < 0:
            endless.add(name)
            continue
        kept += text[place : tag.start()], put
        place = end + len(closing)
    return "".join([*kept, text[place:]])
