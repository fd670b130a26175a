"""An embedded Postgres: started on first use, shared by processes, stopped by the last one.

    location       the default data folder (imports nothing heavy, because settings reads it)
    account        the OS user that Postgres runs as
    paths          the paths of one cluster, and checks that they are usable
    locks          flock(2): one lock for starting and stopping, one shared by all users
    programs       initdb and postgres, copied if their OS user cannot reach them
    creation       initdb, which never overwrites anything
    configuration  postgresql.conf, pg_hba.conf, pg_ident.conf
    postmaster     find, spawn and stop the server process
    database       roles, database, extension
    cluster        run_embedded: all of it under one `async with`
    state          the state that `textrawl doctor` shows
    inventory      counts of everything in a cluster
    upgrade        copying data of an older Postgres into this one

This file imports nothing, so that importing `location` costs nothing.
"""
