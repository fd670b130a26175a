create function textrawl.replaced_fault(space integer, entity text, replaces text) returns text
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    found_fact uuid;
begin
    found_fact := find_fact(
        space, (select e.id from entity e where e.space_id = space and e.name_key = entity_key(space, replaced_fault.entity)), replaces);
    return (select 'TR003' from fact f
            where f.space_id = space and f.id = found_fact
              and not is_valid(f.valid_from, f.valid_until, f.closed_at, present => clock_timestamp()));
exception
    when sqlstate 'TR001' or sqlstate 'TR002' then
        return sqlstate;
end
$$;

comment on function textrawl.replaced_fault is
    'The SQLSTATE with which a fact cannot be replaced: TR001 (no such fact of the entity), TR002 (several facts), TR003 '
    '(it is no longer valid). Null if it can be replaced.';
