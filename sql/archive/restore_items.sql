create function textrawl.restore_items(space integer, taken bigint[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    step record;
begin
    for step in
        select e.observation_id, e.relation_id, e.request, former.*
        from event e
        cross join lateral jsonb_to_record(e.detail -> 'former') former(run uuid, digest text, fact uuid, relation uuid)
        where e.space_id = restore_items.space and e.id = any(taken) and e.detail ? 'former'
          -- It can have been forgotten meanwhile.
          and exists (select from import_run r where r.space_id = e.space_id and r.id = former.run)
          and (exists (select from fact o where o.space_id = e.space_id and o.id = former.fact)
               or exists (select from relation r where r.space_id = e.space_id and r.id = former.relation))
        order by e.id desc
    loop
        update imported_item i
        set run_id = step.run, digest = step.digest, observation_id = step.fact, relation_id = step.relation
        where i.space_id = restore_items.space and 'import ' || i.run_id = step.request
          and (i.observation_id = step.observation_id or i.relation_id = step.relation_id);
    end loop;
    -- The names of an entity can be taken back while the entity stays.
    delete from imported_item i
    where i.space_id = restore_items.space and i.entity_id is not null and 'import ' || i.run_id in (
        select e.request from event e where e.space_id = restore_items.space and e.id = any(taken) and e.request like 'import %');
end
$$;

comment on function textrawl.restore_items is
    'Let the items of an import that is taken back be again what they were before, so that the next import stores them again.';
