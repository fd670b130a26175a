-- Logins and passwords for the container of compose.yaml only. Your own server needs just `textrawl migrate`, see
-- docs/own-postgres.md. The Postgres image runs this once, when it creates the database. Run it again after a change
-- of passwords or of the image:
--   docker compose exec postgres psql -U postgres -d textrawl -f /docker-entrypoint-initdb.d/roles.sql

\set ON_ERROR_STOP on
-- Do not log failed statements: they may contain a password.
set log_min_error_statement = panic;
\getenv owner_password TEXTRAWL_OWNER_PASSWORD
\getenv app_password TEXTRAWL_APP_PASSWORD

select format('create role %I', name)
from unnest(array['textrawl_owner', 'textrawl_app', 'textrawl_analyst']) as name
where not exists (select from pg_roles where rolname = name) \gexec

alter role textrawl_owner login nosuperuser nocreatedb nocreaterole nobypassrls password :'owner_password';
alter role textrawl_app login nosuperuser nocreatedb nocreaterole nobypassrls password :'app_password';
alter role textrawl_analyst nologin nosuperuser nocreatedb nocreaterole nobypassrls;

alter database :"DBNAME" owner to textrawl_owner;
grant connect on database :"DBNAME" to textrawl_app, textrawl_analyst;
-- For statements that people run in the explorer.
grant textrawl_analyst to textrawl_app with inherit false;

create extension if not exists vector;
alter extension vector update;
