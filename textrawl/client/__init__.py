"""The Python classes `Client` and `SyncClient`, for programs that do not speak MCP.

`arguments` checks what a program passes. `local` has the tools of an open memory, and `remote`
those of a server. The Unix socket and commands call the same tools. `answers` makes the
dataclasses of `results` from structured content.
"""
