"""Many writers of the same hundred entities, each in another order."""

import itertools
import random
from collections import Counter
from collections.abc import Callable

import anyio

from tests.attacks.site import Site

WRITERS, ENTITIES = 16, 100


async def contend(
    site: Site, token: str, is_enough: Callable[[Counter[str]], bool]
) -> Counter[str]:
    """How every write ended, "ok" or its error, of all writers at once until it is enough."""
    ends: Counter[str] = Counter()

    async def write(number: int) -> None:
        dice = random.Random(number)  # noqa: S311 - the same orders in every run
        names = [f"Entity {i}" for i in range(ENTITIES)]
        for step in itertools.count():
            names.reverse() if number % 2 else dice.shuffle(names)
            for tool, arguments in _list_writes(names, f"{number} {step}"):
                if is_enough(ends):
                    return
                answer = (await site.call(token, tool, arguments)).json()["result"]
                ends[answer["content"][0]["text"] if answer.get("isError") else "ok"] += 1

    async with anyio.create_task_group() as group:
        for number in range(WRITERS):
            group.start_soon(write, number)
    return ends


def _list_writes(names: list[str], mark: str) -> list[tuple[str, dict[str, object]]]:
    batch = [
        {"entityName": name, "entityType": "concept", "observation": f"batch {mark} {place}"}
        for place, name in enumerate(names[:50])
    ]
    pairs = zip(names[50:60], names[60:70], strict=True)
    edges: list[dict[str, object]] = [
        {"fromEntity": one, "relation": "meets", "toEntity": other} for one, other in pairs
    ]
    singles: list[tuple[str, dict[str, object]]] = [
        ("remember_fact", {"entityName": name, "entityType": "concept", "observation": mark})
        for name in names[70:75]
    ]
    return [
        ("build_knowledge", {"facts": batch[:20], "relations": edges}), *singles,
        *(("relate_entities", edge) for edge in edges[:3]),
    ]  # fmt: skip
