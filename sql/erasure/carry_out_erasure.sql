create function textrawl.carry_out_erasure(
    rows jsonb, counts jsonb, names text[], entities uuid[], actors integer[], keep text, renames boolean, origin textrawl.origin,
    given jsonb default null,  -- a receipt of an earlier erasure that is applied again
    redacting boolean default true  -- false: rows that stay keep their texts
) returns jsonb
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    number uuid := coalesce((given ->> 'erasure')::uuid, gen_random_uuid());
    signed jsonb := coalesce(given, write_receipt(number, rows, counts, names, actors, renames, keep, origin));
begin
    insert into erasure as e (space_id, id, actor_id, receipt) values (origin.space_id, number, origin.author_id, signed)
    on conflict (space_id, id) do update set at = now();
    -- As the plan says: own words about others stay with keep = own, and those of others with keep = others.
    perform erase_rows(rows, names, entities, case when keep is distinct from 'own' then actors else '{}' end,
                       redacting and keep is distinct from 'others', origin);
    if redacting and keep = 'others' then
        perform redact_person(origin.space_id, null, actors);
    end if;
    perform record_event('erased', null, null, null, origin, jsonb_build_object('erasure', number, 'counts', counts));
    return signed;
end
$$;

comment on function textrawl.carry_out_erasure is
    'Erase the rows of a plan, store the receipt and add an event to the trail, all in one transaction. Call '
    'claim_removal(alone => true) first.';
