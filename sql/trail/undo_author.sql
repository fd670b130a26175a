create function textrawl.undo_author(
    author text, since timestamptz, space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null,
    run uuid default null  -- only what this import wrote
) returns table (
    undo_id bigint, space_name text,
    -- Number of rows for each action of plan_undo():
    removed bigint, revived bigint, reset bigint, moved bigint, retyped bigint, dropped bigint, lost bigint, kept bigint
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces       integer[] := administered_spaces(credential, undo_author.space);
    writer       integer := find_author(undo_author.author);
    target_space integer;
    origin       origin;
    taken        bigint[];
    locked_ids   uuid[];
begin
    perform claim_removal(alone => true);
    foreach target_space in array spaces loop
        origin := open_write(credential, target_space, 'admin', client, tool, request, graphs => true);
        -- No other session can then write about these entities until the transaction ends.
        locked_ids := claim_events(target_space, events_to_undo(target_space, writer, undo_author.since, run));
        -- Leave out events about entities that are not locked. The author caused these events after the query above
        -- began. Another undo can undo these events.
        -- The subquery makes Postgres call events_to_undo() once, and not for each event.
        select array_agg(e.id order by e.id) into taken from event e
        where e.space_id = target_space and e.id = any((select events_to_undo(target_space, writer, undo_author.since, run))::bigint[])
          and not exists (
              select from entity n
              where n.space_id = target_space and n.id in (e.entity_id, (e.detail ->> 'to')::uuid, (e.detail ->> 'from')::uuid)
                and n.id <> all(locked_ids));
        -- If all events stay, there is nothing to revert.
        continue when cardinality(undoable_events(target_space, taken)) is not distinct from 0;
        return query
            select d.undo_id, s.name, d.removed, d.revived, d.reset, d.moved, d.retyped, d.dropped, d.lost, d.kept
            from undo_events(writer, undo_author.since, taken, origin) d, space s where s.id = target_space;
    end loop;
end
$$;

comment on function textrawl.undo_author is
    'Undo the calls of an author since an instant, in one space or in all spaces that you administer. Return a row '
    'for each changed space, with the id for revert_undo(). What later events of others build on stays. '
    'Errors: TR010, TR011 (access), TR030 (no such author). '
    'Example: select * from textrawl.undo_author(''ana'', now() - interval ''2 hours'');';
