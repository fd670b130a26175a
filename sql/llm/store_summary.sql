create function textrawl.store_summary(
    entity uuid, facts_hash uuid, clauses jsonb,  -- [{fact, content}], in their order
    llm text, credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns integer  -- number of clauses
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    stored integer;
begin
    -- A deletion of a fact waits, and then deletes its clause too.
    perform from entity e where e.space_id = origin.space_id and e.id = store_summary.entity for no key update;
    update summary s
    set facts_hash = store_summary.facts_hash, llm = left(store_summary.llm, 200), author_id = origin.author_id, made_at = now(),
        due_at = null, attempts = 0
    where s.space_id = origin.space_id and s.entity_id = store_summary.entity;
    if not found then
        return 0;
    end if;
    delete from summary_clause c where c.space_id = origin.space_id and c.entity_id = store_summary.entity;
    insert into summary_clause (space_id, entity_id, place, content, observation_id)
    select origin.space_id, o.entity_id, row_number() over (order by given.place), given.value ->> 'content', o.id
    from jsonb_array_elements(clauses) with ordinality given (value, place)
    join fact o on o.space_id = origin.space_id and o.id = (given.value ->> 'fact')::uuid and o.entity_id = store_summary.entity;
    get diagnostics stored = row_count;
    perform record_event('summarized', store_summary.entity, null, null, origin, jsonb_build_object('llm', llm, 'clauses', stored));
    return stored;
end
$$;

comment on function textrawl.store_summary is
    'Store the summary of an entity in place of its last one. Clauses of facts that were deleted or moved meanwhile are '
    'left out. Without clauses the entity has no summary until its facts change. Needs the scope write. Errors: TR010 to '
    'TR012 (access).';
