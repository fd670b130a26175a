"""Prompts in which a question stands before, after or among logs, stack traces, diffs and code.

The facts and the questions are written by hand, and the pasted texts are made from a seed. So the
prompts are the same on every machine.
"""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

Lines = list[str]


class Known(NamedTuple):
    """A fact about an entity, and a question that it answers."""

    entity: str
    type: str
    fact: str
    question: str


class LongPrompt(NamedTuple):
    """A prompt, the kind of text that was pasted, its place, and what answers the question."""

    text: str
    kind: str
    place: str
    known: Known


KNOWN = (
    Known("Project Zephyr", "project", "rollback code is amber-17",
          "What is Project Zephyr's rollback code?"),
    Known("Acme", "organization", "renews its contract in October 2027",
          "When does Acme renew its contract?"),
    Known("Rosa Lind", "person", "maintains the billing service",
          "Who maintains the billing service?"),
    Known("Harbour", "project", "hashes passwords with Argon2 since the audit of May 2026",
          "How does Harbour hash passwords?"),
    Known("Kim Osei", "person", "is on call in the second week of each month",
          "Which week is Kim Osei on call?"),
    Known("Falcon", "project", "is deployed to the Frankfurt region only",
          "Where is Falcon deployed?"),
    Known("Nightly export", "concept", "fails if the bucket quota is above 90 percent",
          "why does the nightly export fail with the bucket quota?"),
    Known("Dana Weiss", "person", "approves every change of the payment gateway",
          "Who approves changes of the payment gateway?"),
    Known("Lighthouse", "project", "keeps metrics for thirteen months",
          "How long does Lighthouse keep metrics?"),
    Known("C++", "concept", "code of the parser must build with GCC 11",
          "Which GCC must C++ code of the parser build with?"),
    Known("Orchid", "project", "uses feature flags from LaunchPad, not from the environment",
          "where does Orchid read its feature flags from?"),
    Known("Tomas Varga", "person", "wants reviews before noon",
          "When does Tomas Varga want reviews?"),
    Known("Projekt Eiche", "project", "das Kennwort des Testservers liegt im Tresor von Petra",
          "Wo liegt das Kennwort des Testservers von Projekt Eiche?"),
    Known("Petra Kuhn", "person", "prüft die Rechnungen jeden Dienstag",
          "Wann prüft Petra Kuhn die Rechnungen?"),
    Known("Projet Saule", "project", "la migration de la base commence en février",
          "Quand commence la migration de la base du Projet Saule ?"),
    Known("Léa Morin", "person", "préfère les revues de code courtes",
          "Quelles revues de code Léa Morin préfère-t-elle ?"),
    Known("Proyecto Roble", "project", "el servidor de respaldo está en Valencia",
          "¿Dónde está el servidor de respaldo del Proyecto Roble?"),
    Known("Marta Gil", "person", "aprueba los despliegues del viernes",
          "¿Quién aprueba los despliegues del viernes?"),
    Known("桜計画", "project", "締め切りは来年の三月です", "桜計画の締め切りはいつですか\uff1f"),
    Known("青山服务", "project", "部署密码保存在杭州的保险柜", "青山服务的部署密码保存在哪里。"),
    Known("مشروع النخلة", "project", "رمز التراجع هو نجمة سبعة",
          "ما هو رمز التراجع في مشروع النخلة؟"),
    Known("פרויקט ארז", "project", "קוד השחזור הוא כוכב שבע", "מהו קוד השחזור של פרויקט ארז?"),
)  # fmt: skip

_WORDS = (
    "worker", "cache", "session", "queue", "handler", "request", "socket", "token", "batch",
    "parser", "client", "server", "timeout", "buffer", "thread", "retry", "payload", "shard",
    "lease", "index",
)  # fmt: skip
_VERBS = ("opened", "closed", "started", "dropped", "flushed", "refused", "rotated", "expired")
_FILES = ("src/cache.py", "lib/queue/worker.ts", "internal/store/store.go", "app/models/user.rb")
_CHATTER = (
    "Here is what I see.", "The output is below.", "Thanks in advance.", "I pasted all of it.",
    "This happened again today.", "It worked last week.",
)  # fmt: skip


def _log(dice: random.Random, count: int) -> Lines:
    form = dice.randrange(6)
    return [_log_line(dice, form, number) for number in range(count)]


def _log_line(dice: random.Random, form: int, number: int) -> str:
    word, verb, other = dice.choice(_WORDS), dice.choice(_VERBS), dice.choice(_WORDS)
    clock = f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
    level = dice.choice(("INFO", "WARN", "ERROR", "DEBUG"))
    said = f"{word} {verb} {other} id={dice.randrange(10**6)} after {dice.randrange(900)} ms"
    return (
        f"2026-11-25 {clock},{dice.randrange(999):03d} {level} [{word}-{number % 9}] {said}",
        f"2026-11-25T{clock}.{dice.randrange(999):03d}Z {level.lower()} {word}: {said}",
        f"Nov 25 {clock} web-{number % 5} {word}[{dice.randrange(9999)}]: {said}",
        f'10.0.{number % 250}.7 - - [25/Nov/2026:{clock} +0000] "GET /{word}?q={other}" 200 5',
        f'{{"ts":"2026-11-25T{clock}Z","level":"{level}","msg":"{said}?","logger":"{word}"}}',
        f"[{clock}] {level}: {said}. Did you forget to close the {other}?",
    )[form]  # fmt: skip


def _python_trace(dice: random.Random, count: int) -> Lines:
    lines = ["Traceback (most recent call last):"]
    for _ in range(count // 2):
        word = dice.choice(_WORDS)
        lines += [
            f'  File "/srv/app/{dice.choice(_FILES)}", line {dice.randrange(900)}, in {word}',
            f"    return self.{word}.{dice.choice(_WORDS)}(key, value)",
        ]
    return [*lines, f"KeyError: '{dice.choice(_WORDS)}'"]


def _java_trace(dice: random.Random, count: int) -> Lines:
    words = [dice.choice(_WORDS).title() for _ in range(count)]
    lines = ['Exception in thread "main" java.lang.IllegalStateException: the queue is closed']
    lines += [f"\tat com.example.{word}.run({word}.java:12)" for word in words]
    return [*lines, "Caused by: java.io.IOException: Connection reset", "\t... 12 more"]


def _node_trace(dice: random.Random, count: int) -> Lines:
    calls = [(dice.choice(_WORDS), dice.choice(_FILES)) for _ in range(count)]
    lines = ["TypeError: Cannot read properties of undefined (reading 'id')"]
    lines += [f"    at {word} (/srv/{path}:12:17)" for word, path in calls]
    return [
        *lines,
        "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
    ]


def _go_trace(dice: random.Random, count: int) -> Lines:
    lines = [
        "panic: runtime error: index out of range [3] with length 3",
        "",
        "goroutine 1 [running]:",
    ]
    for number in range(count // 2):
        word = dice.choice(_WORDS)
        lines += [f"main.{word}(0xc00001{number:04x}, 0x3)", f"\t/srv/{word}.go:{number} +0x1d"]
    return [*lines, "exit status 2"]


def _diff(dice: random.Random, count: int) -> Lines:
    path, word = dice.choice(_FILES), dice.choice(_WORDS)
    body = [
        f"{dice.choice(' +-')}    {dice.choice(_WORDS)} = {word}.{dice.choice(_WORDS)}({number})"
        for number in range(count)
    ]
    old, new = (sum(line[0] != sign for line in body) for sign in "+-")
    return [
        f"diff --git a/{path} b/{path}", "index 3f2a9c1..8081eaf 100644", f"--- a/{path}",
        f"+++ b/{path}", f"@@ -10,{old} +10,{new} @@ def {word}(self):", *body,
    ]  # fmt: skip


def _python_code(dice: random.Random, count: int) -> Lines:
    lines = ["import json", "from pathlib import Path", ""]
    for number in range(count // 5):
        word, other = dice.choice(_WORDS), dice.choice(_WORDS)
        lines += [
            f"def {word}_{number}(path, {other}=None):",
            f'    """Return the {word} of the {other}."""',
            f"    for item in {other}:", f"        if item.{word}:", "            continue",
            f"    # Why is the {other} not closed here?",
            f"    return json.loads(Path(path).read_text())[{word!r}]", "",
        ]  # fmt: skip
    return lines


def _script_code(dice: random.Random, count: int) -> Lines:
    lines = ["import { useState } from 'react';", ""]
    for number in range(count // 5):
        word, other = dice.choice(_WORDS), dice.choice(_WORDS)
        lines += [
            f"export function {word}{number}({other}?: string) {{",
            f"  const {word} = {other} ? {other}.length : 0;", f"  // TODO is {other} ever null?",
            f"  return {word} > 3 ? '{other}' : undefined;", "}", "",
        ]  # fmt: skip
    return lines


def _rust_errors(dice: random.Random, count: int) -> Lines:
    lines = Lines()
    for number in range(count // 6):
        word = dice.choice(_WORDS)
        lines += [
            f"error[E0382]: borrow of moved value: `{word}`", f"  --> src/{word}.rs:{number}:9",
            "   |",
            f"{number + 10} |     let {word} = {word}_new();", "   |         ^ value borrowed here",
            "   = note: move occurs because the type does not implement the `Copy` trait", "",
        ]  # fmt: skip
    return [*lines, "error: could not compile `app` due to previous errors"]


def _settings(dice: random.Random, count: int) -> Lines:
    lines = ["apiVersion: apps/v1", "kind: Deployment", "spec:"]
    for number in range(count // 3):
        word = dice.choice(_WORDS)
        lines += [f"  - name: {word}-{number}", f"    image: example/{word}:1.{number}"]
        lines += [f"    timeout: {dice.randrange(90)}"]
    return lines


def _query(dice: random.Random, count: int) -> Lines:
    lines = Lines()
    for number in range(count // 4):
        word, other = dice.choice(_WORDS), dice.choice(_WORDS)
        lines += [
            f"SELECT {word}.id, count(*)", f"FROM {word} JOIN {other} ON {other}.id = {word}.ref",
            f"WHERE {word}.size > {number}", f"GROUP BY {word}.id;",
        ]  # fmt: skip
    return lines


KINDS: dict[str, Callable[[random.Random, int], Lines]] = {
    "log": _log, "trace of Python": _python_trace, "trace of Java": _java_trace,
    "trace of Node": _node_trace, "trace of Go": _go_trace, "diff": _diff, "Python": _python_code,
    "TypeScript": _script_code, "errors of a compiler": _rust_errors, "settings": _settings,
    "SQL": _query,
}  # fmt: skip
PLACES = ("before", "after", "around")


def list_long_prompts(count: int = 200, *, seed: int = 38) -> Iterator[LongPrompt]:
    """Yield prompts. The kinds, the places, and the facts come in turn, and lengths vary."""
    dice = random.Random(seed)  # noqa: S311 - a benchmark
    kinds = list(KINDS)
    for number in range(count):
        kind, place = kinds[number % len(kinds)], PLACES[number % len(PLACES)]
        known = KNOWN[(number * 7 + number // len(KNOWN)) % len(KNOWN)]
        size = dice.choice((8, 15, 40, 120, 600))
        asked = (
            known.question if dice.random() < 0.5 else f"{dice.choice(_CHATTER)} {known.question}"
        )
        if dice.random() < 0.2:
            asked = f"{asked} {dice.choice(_CHATTER)}"
        pasted = [_paste(dice, kind, size) for _ in range(2)]
        parts = {
            "before": [asked, pasted[0]], "after": [pasted[0], asked],
            "around": [pasted[0], asked, pasted[1]],
        }[place]  # fmt: skip
        yield LongPrompt(dice.choice(("\n", "\n\n")).join(parts)[:99_000], kind, place, known)


def _paste(dice: random.Random, kind: str, size: int) -> str:
    text = "\n".join(KINDS[kind](dice, size))
    return f"```\n{text}\n```" if dice.random() < 0.2 else text
