"""An embedded Postgres. The first process starts it, and the last process stops it.

paths       the paths of one cluster, checks that they are usable, and Postgres' OS user
postmaster  its configuration; finding, starting and stopping the server process; its state
cluster     its locks, programs, creation and roles; run_embedded: all that as one `async with`
"""
