"""The TypeScript SDK of MCP."""

from tests.clients.programs.program import Driver

TYPESCRIPT_SDK = Driver(
    "TypeScript SDK",
    "1.32.2",
    ("@modelcontextprotocol/sdk@1.32.2",),
    shows="program",
    instructions=True,
    user="asks a person",
    script="typescript_sdk.mjs",
)
