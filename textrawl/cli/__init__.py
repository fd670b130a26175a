"""The command line: `application` loads only the module of the command that runs."""
