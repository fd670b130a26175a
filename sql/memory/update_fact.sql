create function textrawl.update_fact(space integer, fact uuid, given jsonb, moment timestamptz) returns jsonb
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    present observation;
    former  jsonb;
begin
    select * into present from observation o where o.space_id = update_fact.space and o.id = update_fact.fact;
    present.origin := find_origin(present.origin, present.tool, present.client, present.source);
    given := jsonb_strip_nulls(given || jsonb_build_object(
        -- Only a person raises the origin of a fact, by stating it again.
        'origin', case when given ->> 'origin' = 'said' and present.origin <> 'said' then 'said' end,
        'valid_until', case when given ->> 'valid_until' is not null
                            then greatest((given ->> 'valid_until')::timestamptz, present.valid_from) end,
        -- Confirm a fact at most once a day, so that repetitions write nothing.
        'confirmed_at', case when coalesce(present.confirmed_at, present.created_at) < moment - interval '1 day' then moment end));
    former := (select jsonb_object_agg(k, to_jsonb(present) -> k) from jsonb_object_keys(given) k);
    if former <> given then
        perform set_fact(space, fact, given || jsonb_build_object(
            'closed_at', coalesce(past_end((given ->> 'valid_until')::timestamptz), present.closed_at)));
    end if;
    return case when former is not null then jsonb_build_object('before', former, 'after', given) end;
end
$$;

comment on function textrawl.update_fact is
    'Set the given columns of a fact that was stored again, and confirm it; null keeps the '
    'old value. Return {before, after} for the trail, with all given values. Unchanged values are included, because the '
    'caller confirmed them. Null: the caller gave no value, and the fact was confirmed within the last day.';
