"""The functions of textrawl that are entered while a call is answered."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tests.docs.imports import PACKAGE, name_module


@dataclass
class Trace:
    """The entered functions in their order, as modules and names.

    A function that goes on after it has waited is entered again. Comprehensions count as calls, but
    not as functions.
    """

    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def functions(self) -> set[tuple[str, str]]:
        """The functions without comprehensions and lambdas, each once."""
        return {(module, name) for module, name in self.calls if not name.endswith(">")}

    @property
    def modules(self) -> list[str]:
        """The module of each call."""
        return [module for module, _ in self.calls]

    def count_changes(self) -> int:
        """Return how often a call is in another module than the call before it."""
        return sum(one != other for one, other in zip(self.modules, self.modules[1:], strict=False))


@contextmanager
def trace() -> Generator[Trace]:
    """Yield what is entered meanwhile, in any thread."""
    found = Trace()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            found.calls.append((name_module(path), frame.f_code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # pyright: ignore[reportArgumentType] - None ends it
