create function textrawl.replace_fact(
    space integer, replaced uuid, successor uuid, moment timestamptz,
    out changed boolean,         -- false if the fact already has this successor
    out valid_until timestamptz  -- the former end of the fact
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    next   uuid;
    closed timestamptz;
begin
    select o.valid_until, o.closed_at, o.replaced_by into valid_until, closed, next
    from observation o where o.space_id = space and o.id = replaced for no key update;
    -- A client that did not receive the answer repeats the call. The repeated call succeeds and changes nothing.
    changed := next is distinct from successor;
    if changed and not is_valid(null, valid_until, closed, present => moment) then
        raise exception using errcode = 'TR003', message = 'the fact is no longer valid';
    elsif changed then
        update observation set valid_until = moment, closed_at = moment, replaced_by = successor
        where space_id = space and id = replaced;
    end if;
end
$$;

comment on function textrawl.replace_fact is
    'End a fact at a moment and point it to its successor. A search with as_of before that moment still finds the '
    'fact. Error TR003: the fact had already ended.';
