create function textrawl.revert_undo(
    undo bigint, space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null
) returns table (space_name text, restored bigint, merged bigint)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces  integer[] := administered_spaces(credential, revert_undo.space);
    given   undo;
    origin  origin;
    blocker bigint;
begin
    perform claim_removal(alone => true);
    select * into given from undo u where u.space_id = any(spaces) and u.id = revert_undo.undo for update;
    if given.id is null or given.reverted_at is not null or given.purged_at is not null then
        raise exception using errcode = 'TR031', message = 'no such undo',
            detail = case when given.reverted_at is not null then 'reverted' when given.purged_at is not null then 'purged' else '' end;
    end if;
    origin := open_write(credential, given.space_id, 'admin', client, tool, request);
    perform claim_kept(given.space_id, given.id);
    -- A later undo took out what this one would change back, or what only this one's author still says.
    select min(later.undo_id) into blocker
    from undone later join undo u on u.space_id = later.space_id and u.id = later.undo_id and u.reverted_at is null
    where later.space_id = given.space_id and later.undo_id > given.id and later.action = 'remove'
      and later.id in (
          select unnest(array[d.id, (d.before ->> 'replaced_by')::uuid]) from undone d
          where d.space_id = given.space_id and d.undo_id = given.id
          union all
          select unnest(array[e.observation_id, e.relation_id]) from event e
          where e.space_id = given.space_id and e.id = any(given.events));
    if blocker is not null then
        raise exception using errcode = 'TR032', message = 'another undo came later', detail = blocker::text;
    end if;
    return query
        select s.name, r.restored, r.merged from restore_undone(given.space_id, given.id, origin) r, space s
        where s.id = given.space_id;
    update undo u set reverted_at = now() where u.space_id = given.space_id and u.id = given.id;
end
$$;

comment on function textrawl.revert_undo is
    'Puts back what an undo took: how many things came back, and how many were there again by then and stay as they are. Errors: TR010, TR011 (access), TR031 no such undo, or reverted or purged, TR032 a later undo (its id in detail) must be reverted first. Example: select * from textrawl.revert_undo(7);';
