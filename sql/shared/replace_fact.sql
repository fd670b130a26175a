create function textrawl.replace_fact(
    space integer, replaced uuid, successor uuid, moment timestamptz,
    out changed boolean, out valid_until timestamptz
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    next uuid;
begin
    select o.valid_until, o.replaced_by into valid_until, next
    from observation o where o.space_id = space and o.id = replaced for no key update;
    -- The same call sent again after its answer was lost changes nothing and succeeds.
    changed := next is distinct from successor;
    if changed and valid_until <= moment then
        raise exception using errcode = 'TR003', message = 'fact is no longer valid';
    elsif changed then
        update observation set valid_until = moment, replaced_by = successor
        where space_id = space and id = replaced;
    end if;
end
$$;

comment on function textrawl.replace_fact is
    'Ends a fact at a moment and points it to its successor; as_of before that moment still finds it. Tells whether that was new, and when it would have ended. Error TR003: it had ended already.';
