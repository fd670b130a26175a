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

comment on view textrawl.memory_undone is 'Rows that undos removed or changed. '
    'If no rows of an undo are stored, for example because it was reverted or purged, the view has one row for the undo, '
    'without details.';
comment on column textrawl.memory_undone.space is 'Name of the space.';
comment on column textrawl.memory_undone.undo is 'Number of the undo, for `textrawl undo --revert`.';
comment on column textrawl.memory_undone.at is 'Time of the undo.';
comment on column textrawl.memory_undone.author is 'Author whose writes were undone.';
comment on column textrawl.memory_undone.since is 'Time from which writes were undone.';
comment on column textrawl.memory_undone.undone_by is 'Actor that ran the undo.';
comment on column textrawl.memory_undone.state is
    'State of the undo: undone, reverted (everything was restored) or purged (content was deleted permanently).';
comment on column textrawl.memory_undone.ended_at is 'Time when the undo was reverted or purged; null if it was neither reverted nor purged.';
comment on column textrawl.memory_undone.action is
    'What the undo did to the row. remove: it was removed. revive: it is valid again. reset: it has its former source, confidence, end or said_at again. move back: '
    'the fact belongs to its former entity again. retype: the entity has its former type again. drop entity: the '
    'entity was removed. Undos of earlier versions also have hand over and return. Null if no rows of the undo are '
    'stored.';
comment on column textrawl.memory_undone.kind is 'entity, observation, relation, reflection, document or proposal.';
comment on column textrawl.memory_undone.entity_name is
    'Name of the entity in the form in which names are compared, in lower case.';
comment on column textrawl.memory_undone.content is 'Text of a removed fact or reflection; null for other rows.';
comment on column textrawl.memory_undone.id is 'Id of the entity, fact, relation or reflection.';
