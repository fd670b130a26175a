"""The socket of a memory: other programs of the same OS user ask a process that has it open.

Opening a memory takes a second, and a hook of an editor runs at every prompt. Therefore each server
listens on a Unix socket too, and `textrawl resident` is a small process that does only this.

- `address` finds the socket of a memory from the settings.
- `client` asks the process behind it. `address` and `client` use only the standard library and
  `environment`, because they run before anything else is imported.
- `peers` finds the OS user at the other end of a connection.
- `listener` accepts connections. One process of a memory does so at a time.
- `requests` checks the requests. `answers` answers them from an open memory, and `remote` from the
  memory of a server over HTTP. `composition` has what their answers share.
- `process` is the process that `textrawl resident` runs.
"""
