-- Revoke what the container leaves open. The Postgres image of compose.yaml runs this once, after roles.sql, when it
-- creates the database. On another server it would remove a password and rights that people need.

\set ON_ERROR_STOP on
do $$
begin
    -- While the image creates the database, its server does not listen on a network.
    if current_setting('listen_addresses') <> '' then
        raise exception 'only the container of compose.yaml may run this, while it creates its database'
            using hint = 'Your own server needs only `textrawl migrate`: docs/own-postgres.md';
    end if;
end
$$;

revoke all on database :"DBNAME" from public;
revoke connect, temporary on database postgres, template1 from public;

-- Without a password the superuser can log in only from inside the container.
alter role current_user password null;
