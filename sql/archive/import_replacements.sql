create function textrawl.import_replacements(spaces integer[], facts uuid[], successors uuid[], added boolean[])
returns table (place integer)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    -- As whoever corrects a fact does, in the order of names.
    perform from entity e
    where (e.space_id, e.id) in (
        select o.space_id, o.entity_id
        from unnest(spaces || spaces, facts || successors) given(space, fact)
        join observation o on o.space_id = given.space and o.id = given.fact)
    order by e.space_id, e.name_key for no key update;
    -- What is known here may have been corrected otherwise since.
    update observation o set replaced_by = next.id
    from unnest(spaces, facts, successors, added) given(space, fact, successor, added)
    join observation next on next.space_id = given.space and next.id = given.successor
    where o.space_id = given.space and o.id = given.fact and o.replaced_by is null and next.id <> o.id
      and (given.added or o.valid_until is not null);
    return query
        select given.place::integer
        from unnest(spaces, facts, successors) with ordinality given(space, fact, successor, place)
        where not exists (select from observation o where o.space_id = given.space and o.id = given.successor);
end
$$;

comment on function textrawl.import_replacements is
    'Points facts of an export to what they were replaced by, once all are there; returns the places of those whose successor is nowhere. Error TR013: not the owner.';
