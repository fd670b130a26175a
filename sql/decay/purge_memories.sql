create function textrawl.purge_memories(space integer, older_than interval default null) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    ids uuid[] := array(
        select o.id
        from retention r
        join observation f on f.space_id = r.space_id and f.id = r.observation_id
        join observation o on o.space_id = f.space_id and (o.id = f.id or f.whole is not null and o.whole = f.whole
            and o.entity_id = f.entity_id and o.valid_until = f.valid_until)
        where r.space_id = purge_memories.space and r.status = 'removed'
          and (purge_memories.older_than is null or r.ended_at < now() - purge_memories.older_than)
        order by o.id);
begin
    perform withdraw_words(purge_memories.space, ids);
    perform claim_rows(purge_memories.space, ids, '{}');
    perform withdraw_queries(purge_memories.space, ids, null);
    delete from observation o where o.space_id = purge_memories.space and o.id = any(ids);
end
$$;

comment on function textrawl.purge_memories is
    'Permanently delete the memories of a space that gc removed, or that it removed before an interval. Archived '
    'memories stay. purge_undone() calls this, because nobody can revive the memories afterwards.';
