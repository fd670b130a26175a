"""An embedded Postgres. The first process starts it, and the last process stops it.

    location       the default data folder (imports little, because settings reads it)
    account        the OS user that Postgres runs as
    paths          the paths of one cluster, and checks that they are usable
    locks          flock(2): one lock for starting and stopping, one lock that all users share
    programs       initdb and postgres, copied if Postgres' OS user cannot reach them
    creation       initdb, which never overwrites data
    configuration  postgresql.conf, pg_hba.conf, pg_ident.conf
    postmaster     finding, starting and stopping the server process
    database       roles, database, extension
    cluster        run_embedded: a running cluster as one `async with`
    state          the state that `textrawl doctor` shows
    inventory      counts of all tables, roles and extensions in a cluster
    upgrade        copying the data of an older Postgres into the version of this package

This file imports nothing, so importing `location` stays fast.
"""
