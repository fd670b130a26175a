"""The filters of mem0: ids, comparisons, and AND, OR and NOT."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import gmtime, strftime
from typing import Any, cast

from textrawl_client.adapters.pages import read_pages
from textrawl_client.items import Item

Json = dict[str, Any]

IDS = ("user_id", "agent_id", "run_id")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "in": lambda value, wanted: value in wanted,
    "nin": lambda value, wanted: value not in wanted,
    "gt": lambda value, wanted: value is not None and value > wanted,
    "gte": lambda value, wanted: value is not None and value >= wanted,
    "lt": lambda value, wanted: value is not None and value < wanted,
    "lte": lambda value, wanted: value is not None and value <= wanted,
    "contains": lambda value, wanted: wanted in (value or ""),
    "icontains": lambda value, wanted: str(wanted).casefold() in str(value or "").casefold(),
}


def check_ids(user_id: Any = None, agent_id: Any = None, run_id: Any = None) -> dict[str, str]:
    """Return the ids that are given as texts.

    Raises ValueError for an id that is empty or has white space, and if there is no id at all.
    """
    given = zip(IDS, (user_id, agent_id, run_id), strict=True)
    ids = {name: str(value).strip() for name, value in given if value is not None}
    for name, value in ids.items():
        if not value or any(letter.isspace() for letter in value):
            raise ValueError(f"Invalid {name}: it must not be empty or have white space")
    if not ids:
        raise ValueError("Give at least one of user_id, agent_id, run_id (a search in `filters`)")
    return ids


def find(
    fetch: Callable[..., Sequence[Item]], filters: Mapping[str, Any] | None, *, expired: bool
) -> Iterator[Item]:
    """Yield the items that pass the filters. The server compares the ids.

    Raises ValueError for an unknown comparison. Unless `expired`, a memory ends with its last day.
    """
    given = filters or {}
    ids = check_ids(**{name: given[name] for name in IDS if name in given})
    exact = {name: value for name, value in ids.items() if value != "*"}
    today = strftime("%Y-%m-%d", gmtime())
    for item in read_pages(partial(fetch, filter=exact)):
        last = item.value.get("expiration_date") or today
        if _matches(item.value, {**given, **ids}) and (expired or last >= today):
            yield item


def _matches(memory: Json, filters: Mapping[str, Any]) -> bool:
    return all(_matches_one(memory, name, wanted) for name, wanted in filters.items())


def _matches_one(memory: Json, name: str, wanted: Any) -> bool:
    if name == "AND":
        return all(_matches(memory, each) for each in wanted)
    if name == "OR":
        return any(_matches(memory, each) for each in wanted)
    if name == "NOT":
        return not any(_matches(memory, each) for each in wanted)
    value = memory.get(name)
    if isinstance(wanted, dict):
        signs = cast("Json", wanted)
        return all(_compare(value, sign, operand) for sign, operand in signs.items())
    if wanted == "*":
        return value is not None
    return value == wanted or (isinstance(value, list) and wanted in value)


def _compare(value: Any, sign: str, operand: Any) -> bool:
    if sign not in _COMPARISONS:
        raise ValueError(f"Unsupported filter operator: {sign}. Use one of {[*_COMPARISONS]}")
    try:
        return _COMPARISONS[sign](value, operand)
    except TypeError:  # values of different types have no order
        return False
