create function textrawl.purge_undone(
    older_than interval default null, undo bigint default null, space integer default null, credential bytea default null
) returns table (
    space_name text,
    undos bigint,  -- number of undos that can no longer be reverted
    rows bigint    -- number of deleted rows
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces integer[] := administered_spaces(credential, purge_undone.space);
begin
    perform claim_removal(alone => true);
    if purge_undone.undo is null then
        perform purge_memories(s, purge_undone.older_than) from unnest(spaces) s;
        -- Accepted facts stay. An undo of a purged acceptance removes the fact, and the proposal does not come back.
        delete from proposal p
        where p.space_id = any(spaces) and p.decision is not null
          and (purge_undone.older_than is null or p.decided_at < now() - purge_undone.older_than);
    end if;
    perform purge_versions(u.space_id, u.events)
    from undo u
    where u.space_id = any(spaces) and u.reverted_at is null and u.purged_at is null
      and (purge_undone.older_than is null or u.at < now() - purge_undone.older_than)
      and (purge_undone.undo is null or u.id = purge_undone.undo)
    order by u.space_id, u.id;
    return query
        with purged_undo as (
            update undo u set purged_at = now()
            where u.space_id = any(spaces) and u.reverted_at is null and u.purged_at is null
              and (purge_undone.older_than is null or u.at < now() - purge_undone.older_than)
              and (purge_undone.undo is null or u.id = purge_undone.undo)
            returning u.space_id, u.id
        ), purged as (
            delete from undone d using purged_undo where d.space_id = purged_undo.space_id and d.undo_id = purged_undo.id
            returning d.space_id
        )
        select s.name, count(*), (select count(*) from purged where purged.space_id = s.id)
        from purged_undo join space s on s.id = purged_undo.space_id
        group by s.id, s.name order by s.name;
end
$$;

comment on function textrawl.purge_undone is
    'Permanently delete the content that undos keep: of all undos, of undos older than an interval, or of one undo. '
    'Without the number of an undo, also delete the memories that gc removed and the texts of decided proposals. '
    'Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.purge_undone(''30 days'');';
