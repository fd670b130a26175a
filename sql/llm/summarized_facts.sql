create function textrawl.summarized_facts(space integer, entity uuid, out facts bigint, out hash uuid)
language sql stable
begin atomic
    select count(*), md5(string_agg(o.id::text, ',' order by o.id))::uuid
    from textrawl.fact o
    where o.space_id = space and o.entity_id = entity and o.whole is null
      and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at);
end;

comment on function textrawl.summarized_facts is
    'The number of facts that a summary of an entity is made of, and a hash of their ids. Parts of documents are left out.';
