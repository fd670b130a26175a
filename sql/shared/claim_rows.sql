create function textrawl.claim_rows(space integer, facts uuid[], relations uuid[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Lock in one order. A cascade locks rows as it finds them: two sessions that delete two related entities would
    -- deadlock. Facts that were replaced by one of these change as well, even if they were moved to another entity.
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
    'Lock facts and relations that will be deleted or changed, in the order of their ids.';
