"""The command line, a module for each command; `line` puts them together.

    stdio        a server over stdio, which greets its client first; hosting is what it then loads
    foreground   runs a command until it ends or a signal comes; errors become a line and a code
    console      where a command writes: results to stdout, progress to stderr
    inspection   what can be known about a database before it is used
    rows         what SQL functions return that commands alone call

This file stays empty of imports, so that a command loads no other.
"""
