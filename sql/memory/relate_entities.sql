create function textrawl.relate_entities(
    from_entity text, relation text, to_entity text,
    from_type text default null, to_type text default null,
    replaces boolean default false,  -- end other relations of this type that start at the same entity
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    valid_from timestamptz default null, valid_until timestamptz default null,
    out relation_id uuid, out created boolean,
    out from_id uuid, out from_name text, out from_stored_type text,
    out to_id uuid, out to_name text, out to_stored_type text,
    out ended text[],     -- targets of the relations that ended; null if the caller cannot read
    out proposal_id uuid, -- if the caller can only propose; then no relation was stored
    out placed_before text, -- target of the next relation, if the new one begins before it and ends when it begins
    out others text[]       -- targets of valid relations of this type that a new relation disagrees with, see disagreement()
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request, proposing => true);
begin
    if origin.proposed then
        from_name := from_entity; from_stored_type := coalesce(from_type, 'concept');
        to_name := to_entity; to_stored_type := coalesce(to_type, 'concept');
        select p.proposal_id, not p.duplicate into proposal_id, created
        from propose_one('[]', jsonb_build_array(jsonb_build_object(
            'from', from_entity, 'relation', relation, 'to', to_entity, 'from_type', from_type, 'to_type', to_type,
            'replaces', replaces, 'valid_from', valid_from, 'valid_until', valid_until)), model, embedding, origin, may_read(credential, origin.space_id)) p;
        return;
    end if;
    select c.relation_id, c.created, c.from_id, c.from_name, c.from_stored_type, c.to_id, c.to_name, c.to_stored_type, c.ended, c.placed_before
    into relation_id, created, from_id, from_name, from_stored_type, to_id, to_name, to_stored_type, ended, placed_before
    from connect_entities(from_entity, relation, to_entity, from_type, to_type, replaces, model, embedding, origin, valid_from, valid_until) c;
    if created and is_valid(null, valid_until, null, present => clock_timestamp()) then
        others := nullif(array(
            select e.name from relation r join entity e on e.space_id = r.space_id and e.id = r.to_entity
            join observation o on o.space_id = r.space_id and o.id = r.id
            join observation new on new.space_id = r.space_id and new.id = relation_id
            where r.space_id = origin.space_id and r.from_entity = from_id and r.relation_type = relation_key(relation)
              and r.id <> relation_id and is_valid(r.valid_from, r.valid_until, r.closed_at, present => clock_timestamp())
              and compare_claims(o.claim, new.claim) is not null
            order by r.valid_from desc, r.id limit 3), '{}');
    end if;
    if not may_read(credential, origin.space_id) then
        from_name := from_entity; from_stored_type := coalesce(from_type, 'concept');
        to_name := to_entity; to_stored_type := coalesce(to_type, 'concept');
        ended := null; placed_before := null; others := null;
    end if;
end
$$;

comment on function textrawl.relate_entities is
    'Connect two entities by a relation, and create the entities that are missing. A relation that exists is not '
    'stored again. If "replaces" is true, other relations of this type that start at the same entity end when '
    'the new one begins. A caller '
    'that cannot read gets back only the names and types that it sent. The relation of a caller with propose instead of '
    'write becomes a proposal. Errors: TR010 to TR012 (access), TR098 (the period ends before it begins). '
    'Example: select * from textrawl.relate_entities(''Ada'', ''works at'', ''Acme Corp'');';
