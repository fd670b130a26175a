create function textrawl.repeat_revision(
    wrong textrawl.observation, reason text, successor text, origin textrawl.origin
) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    known text := (select o.content from observation o where o.space_id = wrong.space_id and o.id = wrong.replaced_by);
begin
    -- A client that did not receive the answer repeats the call. The repeated call succeeds and changes nothing.
    if reason <> (select r.reason from revision r where r.space_id = wrong.space_id and r.observation_id = wrong.id)
       or fact_key(successor) is distinct from fact_key(known) then
        raise exception using errcode = 'TR018', message = 'the fact was revised already';
    end if;
    -- Record the revision for this author too. If the other author's call is undone, the fact then stays revised.
    perform record_event('revised', wrong.entity_id, coalesce(wrong.replaced_by, wrong.id), null, origin,
                         jsonb_build_object('replaced', wrong.id));
    return wrong.replaced_by;
end
$$;

comment on function textrawl.repeat_revision is
    'Record that somebody revised a fact again in the same way, and return its successor. Error TR018: the fact was '
    'revised in another way.';
