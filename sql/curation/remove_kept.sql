create function textrawl.remove_kept(space integer, moving bigint) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    facts     uuid[];
    relations uuid[];
begin
    select coalesce(array_agg(d.id) filter (where d.kind = 'observation'), '{}'),
        coalesce(array_agg(d.id) filter (where d.kind = 'relation'), '{}')
    into facts, relations
    from undone d where d.space_id = remove_kept.space and d.undo_id = moving and d.action = 'remove';
    perform withdraw_words(space, facts || relations);
    perform claim_rows(space, facts, relations);
    delete from observation o where o.space_id = remove_kept.space and o.id = any(facts);
    delete from relation r where r.space_id = remove_kept.space and r.id = any(relations);
end
$$;

comment on function textrawl.remove_kept is 'Delete the facts and relations that a move keeps in its undone rows.';
