create function textrawl.date_facts(
    entity text, facts text[],  -- ids or texts
    valid_until timestamptz default null,  -- when they ended or end; null: as it is
    said_at timestamptz default null,      -- when they were said; null: as it is
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns integer  -- number of facts
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin    origin := open_write(credential, space, 'write', client, tool, request);
    entity_id uuid   := (claim_named(array[entity], origin))[1];
    ids       uuid[] := array(select find_fact(origin.space_id, entity_id, f) from unnest(facts) f);
    fact      observation;
    detail    jsonb;
begin
    perform refuse_parts(origin.space_id, ids);
    for fact in
        select o.* from observation o where o.space_id = origin.space_id and o.id = any(ids) order by o.id for no key update
    loop
        if not is_valid(fact.valid_from, fact.valid_until, fact.closed_at, present => clock_timestamp()) then
            raise exception using errcode = 'TR003', message = 'the fact is no longer valid';
        end if;
        if valid_until < fact.valid_from then
            raise exception using errcode = 'TR098', message = 'the period ends before it begins';
        end if;
        detail := update_fact(fact.space_id, fact.id, jsonb_build_object('valid_until', valid_until, 'said_at', said_at), clock_timestamp());
        perform record_event('updated', entity_id, fact.id, null, origin, coalesce(detail, '{}'));
    end loop;
    update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = entity_id;
    return cardinality(ids);
end
$$;

comment on function textrawl.date_facts is
    'Set the end of several valid facts of an entity, or the day on which they were said, all or none. Ended facts stay '
    'as history. Errors: TR001 or TR002 (no fact or several facts match), TR003 (a fact is no longer valid), TR010 to '
    'TR012 (access), TR050 (no such entity), TR055 (a fact is a part of a journal entry), TR098 (a fact would end '
    'before it begins). '
    'Example: select textrawl.date_facts(''Jeff'', array[''prefers dark mode''], valid_until => now());';
