create view textrawl.memory_grants with (security_invoker) as
select s.name as space, a.name as actor,
       'read' = any(g.scopes) as may_read, 'write' = any(g.scopes) as may_write, 'forget' = any(g.scopes) as may_forget,
       'admin' = any(g.scopes) as may_administer, g.for_login as for_login, g.granted_at
from textrawl.space_grant g
join textrawl.space s on s.id = g.space_id
join textrawl.actor a on a.id = g.actor_id;

comment on view textrawl.memory_grants is 'Who may do what in the spaces that you read: a row an actor and space.';
comment on column textrawl.memory_grants.space is 'Name of the space.';
comment on column textrawl.memory_grants.actor is 'The person, agent or service.';
comment on column textrawl.memory_grants.may_read is 'Whether they may ask the space.';
comment on column textrawl.memory_grants.may_write is 'Whether they may add to it.';
comment on column textrawl.memory_grants.may_forget is 'Whether they may delete from it for good.';
comment on column textrawl.memory_grants.may_administer is 'Whether they may grant, read the trail and undo.';
comment on column textrawl.memory_grants.for_login is 'Whether they may read for a login in SQL, made by textrawl analyst create, and no longer than that.';
comment on column textrawl.memory_grants.granted_at is 'When it was granted or last changed.';
