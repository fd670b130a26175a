"""A memory on several Postgres servers, distributed by the extension Citus.

The servers of a cluster are its nodes: a coordinator and workers. Each space lives whole on one
worker. The coordinator has the directory: spaces, actors, tokens, grants and embedding models. Each
worker has a copy of it. All other tables with the column `space_id` are content. Citus divides
their rows by space into shards. A cell is one shard of each content table, with its own copy of the
SQL functions, which see the shards as their tables. So a call in a cell is a call in an ordinary
Postgres.
"""
