create function textrawl.replace_fact(space integer, replaced uuid, successor uuid, moment timestamptz) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    ended boolean;
    next  uuid;
begin
    select valid_until <= moment, replaced_by into ended, next
    from observation where space_id = space and id = replaced for update;
    -- The same call sent again after its answer was lost changes nothing and succeeds.
    if next = successor then
        return;
    elsif ended then
        raise exception using errcode = 'TR003', message = 'fact is no longer valid';
    end if;
    update observation set valid_until = moment, replaced_by = successor
    where space_id = space and id = replaced;
end
$$;

comment on function textrawl.replace_fact is
    'Ends a fact at a moment and points it to its successor; as_of before that moment still finds it. Error TR003: it had ended already.';
