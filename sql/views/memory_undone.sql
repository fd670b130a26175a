create view textrawl.memory_undone with (security_invoker) as
select s.name as space, u.id as undo, u.at, author.name as author, u.since, by_whom.name as undone_by,
       case when u.reverted_at is not null then 'reverted' when u.purged_at is not null then 'purged' else 'undone' end as state,
       coalesce(u.reverted_at, u.purged_at) as ended_at, d.action, d.kind, d.names[1] as entity_name,
       d.before ->> 'content' as content, d.id
from textrawl.undo u
join textrawl.space s on s.id = u.space_id
join textrawl.actor author on author.id = u.author_id
join textrawl.actor by_whom on by_whom.id = u.actor_id
left join textrawl.undone d on d.space_id = u.space_id and d.undo_id = u.id;

comment on view textrawl.memory_undone is 'Everything that undos removed or changed, one row for each. '
    'An undo that no longer keeps anything has one row without details.';
comment on column textrawl.memory_undone.space is 'Name of the space.';
comment on column textrawl.memory_undone.undo is 'Number of the undo, for textrawl undo --revert.';
comment on column textrawl.memory_undone.at is 'Time of the undo.';
comment on column textrawl.memory_undone.author is 'Author whose writes were undone.';
comment on column textrawl.memory_undone.since is 'Start of the period that was undone.';
comment on column textrawl.memory_undone.undone_by is 'Actor that ran the undo.';
comment on column textrawl.memory_undone.state is 'undone, reverted (everything was restored) or purged (deleted permanently).';
comment on column textrawl.memory_undone.ended_at is 'Time when it was reverted or purged; null: neither.';
comment on column textrawl.memory_undone.action is
    'remove, hand over (another author also stated it), revive (valid again), reset (former source, confidence or end), '
    'move back, retype or drop entity; null: nothing is kept.';
comment on column textrawl.memory_undone.kind is 'entity, observation, relation or reflection.';
comment on column textrawl.memory_undone.entity_name is 'The entity, in lower case as names are compared.';
comment on column textrawl.memory_undone.content is 'The text of a removed fact or reflection; null for everything else.';
comment on column textrawl.memory_undone.id is 'Id of the entity, fact or relation.';
