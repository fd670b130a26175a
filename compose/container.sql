-- Run once by the Postgres image of compose.yaml, after roles.sql, while it makes the database. It closes
-- what a container leaves open, and would take a password and rights away from people elsewhere.

\set ON_ERROR_STOP on
do $$
begin
    -- The image makes the database with a server that nobody reaches through a network.
    if current_setting('listen_addresses') <> '' then
        raise exception 'this is for the container of compose.yaml while it makes its database'
            using hint = 'Your own server needs `textrawl migrate` alone: docs/own-postgres.md';
    end if;
end
$$;

revoke all on database :"DBNAME" from public;
revoke connect, temporary on database postgres, template1 from public;

-- Without a password the superuser gets in from inside the container alone.
alter role current_user password null;
