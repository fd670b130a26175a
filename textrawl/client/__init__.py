"""The Python classes `Client` and `SyncClient`: the light client, and a memory in this process.

`local` has the tools of an open memory that programs call most, and `arguments` checks what they
get. `toolset_calls` runs the other tools. The Unix socket and commands call the same tools.
"""
