"""The adapters pass the type checker where their frameworks are installed."""

import sys

import anyio
import pytest
from anyio.to_thread import run_sync

from tests.frameworks.catalogue import FRAMEWORKS, Framework
from tests.frameworks.running import provide
from tests.frameworks.table import name_run
from tests.support.pages import ROOT

ADAPTERS = "packages/client/textrawl_client/adapters"
ADAPTED = [framework for framework in FRAMEWORKS if framework.adapters]

pytestmark = [pytest.mark.anyio, pytest.mark.frameworks, pytest.mark.timeout(900)]


def test_every_adapter_is_one_of_a_framework() -> None:
    named = sorted(name for framework in ADAPTED for name in framework.adapters)

    assert named == sorted(path.stem for path in (ROOT / ADAPTERS).glob("[!_]*.py"))


@pytest.mark.parametrize("framework", ADAPTED, ids=[framework.name for framework in ADAPTED])
async def test_pyright_strict_finds_no_error_beside_the_framework(
    framework: Framework, request: pytest.FixtureRequest
) -> None:
    name_run(request.node, framework)
    installed = await run_sync(provide, framework.registry, framework.packages)
    files = [f"{ADAPTERS}/{name}.py" for name in framework.adapters]
    words = ["-m", "pyright", "--pythonpath", str(installed / "bin/python"), *files]

    done = await anyio.run_process([sys.executable, *words], cwd=ROOT, check=False)

    assert done.returncode == 0, done.stdout.decode()
