create function textrawl.import_replacements(spaces integer[], facts uuid[], successors uuid[], added boolean[])
returns table (
    place integer  -- position of a fact with a missing successor
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    -- Lock the entities in the order of names, like every writer.
    perform from entity e
    where (e.space_id, e.id) in (
        select o.space_id, o.entity_id
        from unnest(spaces || spaces, facts || successors) input(space, fact)
        join fact o on o.space_id = input.space and o.id = input.fact)
    order by e.space_id, e.name_key for no key update;
    -- A fact can have moved to another entity meanwhile, which is not locked. So lock the facts too, in the order of
    -- their ids, as claim_rows() does.
    perform from observation o
    where (o.space_id, o.id) in (
        select input.space, input.fact from unnest(spaces || spaces, facts || successors) input(space, fact))
    order by o.space_id, o.id for update;
    -- Skip facts that this memory already records as replaced, and facts that existed before the import and have not
    -- ended.
    update observation o
    -- A file of an earlier version does not have closed_at.
    set replaced_by = next.id, closed_at = coalesce(o.closed_at, o.valid_until)
    from unnest(spaces, facts, successors, added) input(space, fact, successor, added)
    join fact next on next.space_id = input.space and next.id = input.successor
    where o.space_id = input.space and o.id = input.fact and o.replaced_by is null and next.id <> o.id
      and (input.added or o.valid_until is not null);
    return query
        select input.place::integer
        from unnest(spaces, facts, successors) with ordinality input(space, fact, successor, place)
        where not exists (select from fact o where o.space_id = input.space and o.id = input.successor);
end
$$;

comment on function textrawl.import_replacements is
    'Set replaced_by of imported facts, after all facts are imported. Error TR013: not the owner.';
