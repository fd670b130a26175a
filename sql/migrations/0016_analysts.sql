-- Logins of analysts are listed and dropped with what they were granted; analysts see who asked.

alter table space_grant add column for_login boolean not null default false;
comment on column space_grant.for_login is 'Whether its read was granted for the database login of the actor, by create_analyst(), and goes with drop_analyst().';

alter table recall add column actor_id integer references actor on delete set null;
comment on column recall.actor_id is 'Who asked; null: a session without a token, or recorded before this was.';
create index recall_actor_idx on recall (actor_id) where actor_id is not null;
