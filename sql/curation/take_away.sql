create function textrawl.take_away(
    source textrawl.entity, chosen uuid[], edges uuid[], origin textrawl.origin,
    out facts bigint, out relations bigint
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    facts := cardinality(chosen); relations := cardinality(edges);
    perform withdraw_words(source.space_id, chosen || edges);
    perform claim_rows(source.space_id, chosen, edges);
    delete from observation o where o.space_id = source.space_id and o.id = any(chosen);
    delete from relation r where r.space_id = source.space_id and r.id = any(edges);
    update entity e set updated_at = clock_timestamp() where e.space_id = source.space_id and e.id = source.id;
    perform record_event('transferred', source.id, null, null, origin,
                         jsonb_build_object('move', true, 'facts', facts, 'relations', relations));
end
$$;

comment on function textrawl.take_away is
    'Delete the facts and relations that a move copied to another space.';
