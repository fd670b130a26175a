create function textrawl.correct_relation(
    from_entity text, former_relation text, former_entity text,  -- the relation that ends
    relation text, to_entity text,                               -- and the one that is right in its place
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    valid_from timestamptz default null, valid_until timestamptz default null,
    out proposal_id uuid  -- if the caller can only propose; then nothing has ended
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request, proposing => true);
begin
    if not origin.proposed then
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
    'End a relation, and store another one of the same entity in its place, both or none. Errors: those of '
    'end_relation() and relate_entities(). '
    'Example: select textrawl.correct_relation(''Ada'', ''works at'', ''Acme'', ''works at'', ''Globex'');';
