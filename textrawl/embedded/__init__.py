"""An embedded Postgres: started on first use, shared by processes, stopped by the last one.

    location   where the data lies by default (imports nothing heavy: settings reads it)
    account    the OS user that Postgres runs as
    site       every path of one cluster, and whether it may be used
    locks      flock(2): who may start and stop, who is still using it
    programs   initdb and postgres, copied when their OS user cannot reach them
    creation   initdb, never over anything that exists
    configuration  postgresql.conf, pg_hba.conf, pg_ident.conf
    postmaster the server process: found, spawned, stopped
    database   roles, database, extension
    cluster    run_embedded: all of it under one `async with`
    state      what `textrawl doctor` says
    inventory  what a cluster holds, counted
    upgrade    data of an older Postgres, carried over to this one

This file stays empty of imports, so that reading `location` costs nothing.
"""
