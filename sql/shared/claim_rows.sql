create function textrawl.claim_rows(space integer, facts uuid[], relations uuid[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Lock all rows in one order. A cascade locks rows in the order in which it finds them, so two sessions that delete
    -- two related entities could deadlock. If a deleted fact had replaced older facts, the deletion changes the older
    -- facts too. So lock them as well, even if they were moved to another entity.
    perform from observation o
    where o.space_id = space and o.id in (
        select unnest(facts || relations)
        union all
        select p.id from observation p where p.space_id = space and p.replaced_by = any(facts))
    order by o.id for update;
    perform from relation r where r.space_id = space and r.id = any(relations) order by r.id for update;
end
$$;

comment on function textrawl.claim_rows is
    'Lock the facts, the relations and the statements of the relations that a deletion removes or changes. The rows '
    'are locked in the order of their ids.';
