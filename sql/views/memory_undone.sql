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

comment on view textrawl.memory_undone is 'What was taken back: a row for each thing that an undo removed or changed; one row without it for an undo that keeps nothing any more.';
comment on column textrawl.memory_undone.space is 'Name of its space.';
comment on column textrawl.memory_undone.undo is 'Number of the undo, as textrawl undo --revert takes it.';
comment on column textrawl.memory_undone.at is 'When it was done.';
comment on column textrawl.memory_undone.author is 'Whose writes were taken back.';
comment on column textrawl.memory_undone.since is 'From when on.';
comment on column textrawl.memory_undone.undone_by is 'Who took them back.';
comment on column textrawl.memory_undone.state is 'undone, reverted (it is all there again), or purged (deleted for good).';
comment on column textrawl.memory_undone.ended_at is 'Since when it is reverted or purged; null: it is neither.';
comment on column textrawl.memory_undone.action is 'remove, hand over (others said it as well), revive (what they replaced is valid again), reset (source, confidence or end as before), move back, retype or drop entity; null: nothing is kept.';
comment on column textrawl.memory_undone.kind is 'entity, observation, relation or reflection.';
comment on column textrawl.memory_undone.entity_name is 'The entity, in small letters as names are compared.';
comment on column textrawl.memory_undone.content is 'The fact; null of entities and relations, and where only its author or its validity changed.';
comment on column textrawl.memory_undone.id is 'Id of the entity, fact or relation.';
