"""What may come back from a call, whatever it was; and what came of many."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator
from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

from tests.fuzzing.calls import Call
from tests.fuzzing.oracle import Judgement, judge

PATIENCE = 20.0  # seconds for an answer
MOST_TOKENS = 70  # of an error that concerns one argument
_MORE_TOKENS = 25  # for every other one
_ECHO = 60  # characters of what was given that an error may repeat
_STORED = ("Fact not found", "Missing query", "Missing entityName")
_LEAKS = re.compile(r"Traceback|psycopg|pydantic|site-packages|\bselect \b|insert into|File \"")
_REFUSALS = (-32700, -32600, -32602)


@dataclass(frozen=True)
class Answer:
    """What a client got, as JSON: a result, or an error of the protocol; `raw` is the wire's."""

    seconds: float
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    raw: str | None = None
    status: int = 200

    @property
    def failed(self) -> bool:
        return self.result is None or bool(self.result.get("isError"))

    @property
    def text(self) -> str:
        """The text of the one block of a result."""
        assert self.result is not None
        [block] = self.result["content"]
        return str(block["text"])


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def read_strictly(text: str) -> Any:
    """JSON as the standard has it. Raises ValueError for NaN and its kin."""
    return json.loads(text, parse_constant=_refuse_constant)


def read_failure(text: str) -> dict[str, str]:
    """Title and fix of an error, which are sentences beside structured content."""
    if text.startswith("{"):
        return {"error": str(read_strictly(text)["err"]), "fix": ""}  # of a deletion
    title, _, fix = text.partition(". ")
    return {"error": title, "fix": fix}


def is_sendable(value: Any) -> bool:
    """Whether a value is one of JSON's, no deeper than parsers go, in Unicode that can be sent."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return _measure(value) < 100


def _measure(value: Any) -> int:
    depth, level = 0, [value]
    while level := [
        inner
        for outer in level
        if isinstance(outer, dict | list)
        for inner in (outer.values() if isinstance(outer, dict) else outer)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    ]:
        depth += 1
    return depth


def find_faults(call: Call, answer: Answer, output: Mapping[str, Any]) -> list[str]:
    """What is wrong with the answer to a call of a tool with the schema `output`."""
    judgement = judge(call.tool, call.arguments)
    faults = ["hang"] if answer.seconds > PATIENCE else []
    if answer.raw is not None:
        try:
            read_strictly(answer.raw)
        except ValueError:
            return [*faults, "invalid JSON"]
    if answer.status >= 500:
        faults.append(f"status {answer.status}")
    if answer.result is None:
        return faults + _judge_refusal(call, judgement, answer)
    refused = call.tool == "forget_entity" and "structuredContent" in answer.result
    if answer.failed and not refused:
        return faults + _judge_error(call, judgement, answer)
    return faults + _judge_result(judgement, answer, output)


def _judge_refusal(call: Call, judgement: Judgement, answer: Answer) -> list[str]:
    """The protocol refuses only what it cannot carry."""
    code = (answer.error or {}).get("code")
    if code is None and answer.status in (400, 413):
        code = -32600
    faults = [] if code in _REFUSALS else [f"protocol error {code}"]
    given: object = call.arguments
    carried = is_sendable(given) and isinstance(given, dict)
    small = len(repr(call)) < 100_000
    return faults + (["a sound call refused by the protocol"] if carried and small else [])


def _judge_error(call: Call, judgement: Judgement, answer: Answer) -> list[str]:
    faults: list[str] = []
    assert answer.result is not None
    error = read_failure(answer.text)
    if error.keys() != {"error", "fix"} or answer.result.get("structuredContent") is not None:
        faults.append("not the shape of an error")
    if error["error"] in ("Internal error", "Failed"):
        faults.append("internal error")
    if _LEAKS.search(answer.text):
        faults.append("traceback or statement in an error")
    if not judgement.bad and not judgement.open and error["error"] not in _STORED:
        faults.append("a sound call refused")
    if judgement.bad and not _names(judgement, error):
        faults.append("an error that does not name its argument")
    count = batch_count([answer.text], "o200k_base", threads=1)[0]
    wrong = max(len(judgement.bad), error["fix"].count("; ") + 1, error["fix"].count("[") + 1)
    if count > MOST_TOKENS + _MORE_TOKENS * (wrong - 1):
        faults.append(f"an error of {count // 10 * 10} tokens for {wrong}")
    if any(text[:_ECHO] in answer.text for text in _list_texts(call.arguments)):
        faults.append("an error that repeats what was given")
    return faults


def _names(judgement: Judgement, error: Mapping[str, str]) -> bool:
    text = error["error"] + error["fix"]
    names = judgement.bad | judgement.doubtful
    return any(name in text for name in names) or error["error"].startswith("Unknown argument")


def _list_texts(value: Any) -> list[str]:
    """Long texts in a value, which an error should not have whole."""
    if isinstance(value, str):
        return [value] if len(value) > _ECHO else []
    if isinstance(value, dict):
        parts = [*value, *value.values()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return [t for inner in parts for t in _list_texts(inner)]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list) and _measure(value) < 20:
        return [t for inner in value for t in _list_texts(inner)]  # pyright: ignore[reportUnknownVariableType]
    return []


def _judge_result(judgement: Judgement, answer: Answer, output: Mapping[str, Any]) -> list[str]:
    assert answer.result is not None
    faults = (
        [f"accepted malformed: {', '.join(sorted(judgement.bad))[:60]}"] if judgement.bad else []
    )
    structured = answer.result.get("structuredContent")
    if structured is None or not Draft202012Validator(output).is_valid(structured):  # pyright: ignore[reportUnknownMemberType]
        faults.append("structured content that its schema does not describe")
    try:
        read_strictly(answer.text)
    except ValueError:
        faults.append("text that is no JSON")
    return faults


@dataclass
class Report:
    """Calls by tool and outcome, and every kind of fault with the calls that showed it."""

    calls: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    faults: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    slowest: tuple[float, str] = (0.0, "")

    def add(self, call: Call, answer: Answer, faults: list[str]) -> None:
        self.calls += 1
        outcome = "ok" if not answer.failed else f"protocol {(answer.error or {}).get('code')}"
        if answer.failed and answer.result is not None:
            outcome = re.split(r" ['\"]", read_failure(answer.text)["error"])[0]
        self.outcomes[call.tool, outcome] += 1
        if math.isfinite(answer.seconds) and answer.seconds > self.slowest[0]:
            self.slowest = (answer.seconds, str(call)[:120])
        for fault in faults:
            text = answer.text if answer.result is not None else str(answer.error)
            self.note(fault, f"{call} -> {ascii(text)[:400]}")

    def note(self, fault: str, example: str) -> None:
        """Another one of a kind of fault."""
        self.faults.setdefault(fault, []).append(example)

    def count(self, outcome: str) -> int:
        """How many calls ended so, of all tools."""
        return sum(number for (_, ended), number in self.outcomes.items() if ended == outcome)
