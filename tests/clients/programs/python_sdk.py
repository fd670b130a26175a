"""Old versions of the Python SDK of MCP."""

from tests.clients.programs.program import Driver

PYTHON_SDK_1_2 = Driver(
    "Python SDK 1.2",
    "1.2.0",
    ("mcp==1.2.0", "pydantic<2.11"),
    shows="program",
    instructions=True,
    user="cannot be asked",
    registry="PyPI",
    script="python_sdk.py",
    transports=("stdio",),
)
PYTHON_SDK_1_27 = Driver(
    "Python SDK 1.27",
    "1.27.2",
    ("mcp==1.27.2",),
    shows="program",
    instructions=True,
    user="asks a person",
    registry="PyPI",
    script="python_sdk.py",
)
