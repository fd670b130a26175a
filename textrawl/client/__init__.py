"""The Python classes `Client` and `SyncClient`, for programs that do not speak MCP.

`arguments` checks what a program passes, in the same way for both kinds of memory. `local` calls
the operations of the tools on an open memory. `remote` calls the tools of a server, and `answers`
and `refusals` read what it sends back. `results` has the dataclasses that a program gets.
"""
