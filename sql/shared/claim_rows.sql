create function textrawl.claim_rows(space integer, facts uuid[], relations uuid[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Who is deleted by a cascade is locked as it is found: two entities that point to each other would
    -- go from both ends. What a fact replaced is changed with it, wherever it has been moved to.
    perform from observation o
    where o.space_id = space and o.id in (
        select unnest(facts)
        union all
        select p.id from observation p where p.space_id = space and p.replaced_by = any(facts))
    order by o.id for update;
    perform from relation r where r.space_id = space and r.id = any(relations) order by r.id for update;
end
$$;

comment on function textrawl.claim_rows is
    'Locks facts and relations that are about to be deleted or changed, in the order of their ids.';
