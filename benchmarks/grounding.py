"""Share of claims of an LLM that are kept, of those that a text says and of those that it does not.

    python -m benchmarks.grounding [--misses]

The claims of benchmarks/support/grounding.json and grounding_unseen.json were written and labelled
by hand: `yes` follows from the text, and `no` does not. From each `yes` wrong answers are made:
with another name, another number, an addition, a denial more or a denial less. Claims have two
parts (entity, fact) or three (entity, relation, entity). The second file was labelled before its
author knew the rules. Its texts "once held out" were held out until the first measurement, when 6
of 219 wrong claims about them were kept. Rules were added since, so their 0 is no estimate.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from textrawl.values.grounding import Grounding, Unsupported

SUPPORT = Path(__file__).parent / "support"

_DENIAL = re.compile(
    r"\b(?:does not|do not|is not|are not|not|never|nicht|nunca|n'|pas|no one)\b ?"
)
_VERB = re.compile(r"^(is|are|has|was|lives|works|wohnt|vive|habite)\b")


class Passage(BaseModel):
    """A text with claims that it supports, and claims that it does not support."""

    text: str
    held_out: bool = False
    yes: list[list[str]]
    no: list[list[str]]


def read_passages(name: str) -> list[Passage]:
    """Return the texts of a file with their claims."""
    text = (SUPPORT / f"{name}.json").read_text("utf-8")
    return [Passage.model_validate(one) for one in json.loads(text)]


def read_parts() -> dict[str, list[Passage]]:
    """Return the texts that the rules were made with, and those that once were held out."""
    unseen = read_passages("grounding_unseen")
    return {
        "first 65": read_passages("grounding"),
        "learned from": [one for one in unseen if not one.held_out],
        "once held out": [one for one in unseen if one.held_out],
    }


def spoil(claim: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield wrong answers that are made from a right claim, each with its kind."""
    yield "another entity", ["Zbigniew Kowalczyk", *claim[1:]]
    entity, *rest = claim
    if len(rest) > 1:
        yield "another end", [entity, rest[0], "Quixwell Ltd"]
        return
    [fact] = rest
    yield "an addition", [entity, f"{fact} together with Quixwell"]
    if numbers := re.findall(r"\d+", fact):
        yield "another number", [entity, fact.replace(numbers[-1], str(int(numbers[-1]) + 7))]
    if _DENIAL.search(fact):
        yield "a denial less", [entity, _DENIAL.sub("", fact)]
    elif _VERB.search(fact):
        yield "a denial more", [entity, _VERB.sub(r"\1 not", fact)]


def answer(grounding: Grounding, claim: list[str]) -> str | None:
    """Return why a claim is dropped, or None."""
    try:
        if len(claim) > 2:
            grounding.support_relation(*claim)
        else:
            grounding.support_fact(*claim)
    except Unsupported as reason:
        return str(reason)
    return None


def main() -> None:
    """Print the shares by kind of claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    asked, kept = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for part, passage in ((part, one) for part, some in read_parts().items() for one in some):
        grounding = Grounding(passage.text)
        claims = [("yes", one) for one in passage.yes] + [("no", one) for one in passage.no]
        claims += [spoiled for one in passage.yes for spoiled in spoil(one)]
        for kind, claim in claims:
            reason = answer(grounding, claim)
            asked[part, kind] += 1
            kept[part, kind] += reason is None
            if given.misses and (reason is None) is not (kind == "yes"):
                print(f"{part}: {kind}: {claim}: {reason or 'kept'} | {passage.text}")
    print("| texts | claims | asked | kept |\n| --- | --- | ---: | ---: |")
    for (part, kind), number in asked.items():
        print(f"| {part} | {kind} | {number} | {kept[part, kind]} |")


if __name__ == "__main__":
    main()
