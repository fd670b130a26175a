create function textrawl.purge_undone(
    older_than interval default null, undo bigint default null, space integer default null, credential bytea default null
) returns table (
    space_name text,
    undos bigint,  -- undos that can no longer be reverted
    rows bigint    -- rows that were deleted
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces integer[] := administered_spaces(credential, purge_undone.space);
begin
    perform claim_removal(alone => true);
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
    'Delete permanently what undos keep: of all undos, of those older than an interval, or of one. Errors: TR010, TR011 '
    '(access). '
    'Example: select * from textrawl.purge_undone(''30 days'');';
