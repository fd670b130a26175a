create function textrawl.correct_relation(
    from_entity text, former_relation text, former_entity text,  -- the relation that ends
    relation text, to_entity text,                               -- the relation that replaces it
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    valid_from timestamptz default null, valid_until timestamptz default null,
    out proposal_id uuid  -- of the new relation, if the caller can only propose. Accepting it ends no relation
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request, proposing => true);
begin
    if origin.proposed then
        -- Raise this error only for readers: it says which relations exist.
        if may_read(credential, origin.space_id) and not exists (
            select from relation r
            join entity s on s.space_id = r.space_id and s.id = r.from_entity
            join entity t on t.space_id = r.space_id and t.id = r.to_entity
            where s.space_id = origin.space_id and s.name_key = entity_key(origin.space_id, from_entity)
              and t.name_key = entity_key(origin.space_id, former_entity) and r.relation_type = relation_key(former_relation)) then
            raise exception using errcode = 'TR007', message = 'no such relation';
        end if;
    else
        -- Lock all entities first, in the order of their names, like every writer.
        perform claim_known(origin.space_id, array[from_entity, former_entity, to_entity]);
        perform end_relation(from_entity, former_relation, former_entity, null, credential, origin.space_id, client, tool, request);
    end if;
    select r.proposal_id into proposal_id
    from relate_entities(
        from_entity, relation, to_entity, model => model, embedding => embedding, credential => credential,
        space => origin.space_id, client => client, tool => tool, request => request,
        valid_from => valid_from, valid_until => valid_until) r;
end
$$;

comment on function textrawl.correct_relation is
    'End a relation, and store another one of the same entity in its place, both or none. A caller with propose instead '
    'of write only proposes the new relation, and the former one stays. Errors: those of end_relation() and '
    'relate_entities(). '
    'Example: select textrawl.correct_relation(''Ada'', ''works at'', ''Acme'', ''works at'', ''Globex'');';
