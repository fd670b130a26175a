"""The command line: `application` loads one module of `commands` for each command."""
