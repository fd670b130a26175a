create view textrawl.memory_grants with (security_invoker) as
select s.name as space, a.name as actor,
       'read' = any(g.scopes) as may_read, 'write' = any(g.scopes) as may_write, 'forget' = any(g.scopes) as may_forget,
       'propose' = any(g.scopes) as may_propose, 'review' = any(g.scopes) as may_review,
       'admin' = any(g.scopes) as may_administer, g.for_login as for_login, g.granted_at
from textrawl.space_grant g
join textrawl.space s on s.id = g.space_id
join textrawl.actor a on a.id = g.actor_id;

comment on view textrawl.memory_grants is 'Rights of each actor in the spaces that you can read, one row for each actor and space.';
comment on column textrawl.memory_grants.space is 'Name of the space.';
comment on column textrawl.memory_grants.actor is 'The person, agent or service.';
comment on column textrawl.memory_grants.may_read is 'True if the actor can read the space.';
comment on column textrawl.memory_grants.may_write is 'True if the actor can write to the space.';
comment on column textrawl.memory_grants.may_forget is
    'True if the actor can permanently delete facts and entities of the space.';
comment on column textrawl.memory_grants.may_propose is
    'True if the actor can propose facts and relations, which count after a reviewer accepts them.';
comment on column textrawl.memory_grants.may_review is 'True if the actor can see and decide the proposals of the space.';
comment on column textrawl.memory_grants.may_administer is
    'True if the actor can grant access to the space, read its trail and undo writes.';
comment on column textrawl.memory_grants.for_login is
    'True if `textrawl analyst create` granted the right to read to a database login; the right ends with the login.';
comment on column textrawl.memory_grants.granted_at is 'Time when the grant was made or last changed.';
