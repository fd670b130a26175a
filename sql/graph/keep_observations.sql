create function textrawl.keep_observations(
    nodes jsonb, model integer, embeddings halfvec[], origin textrawl.origin
) returns table (place bigint, content text)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    input       record;
    piece       record;
    number      integer := 0;
    fresh       boolean;
    touched     uuid[] := '{}';
    known_model integer := (select m.id from embedding_model m where m.id = keep_observations.model);
begin
    for input in
        select node.ordinality as place, (node.value ->> 'id')::uuid as entity, text.value as observation
        from jsonb_array_elements(nodes) with ordinality node,
             jsonb_array_elements(coalesce(nullif(node.value -> 'observations', 'null'), '[]')) with ordinality text
        order by node.ordinality, text.ordinality
    loop
        fresh := false;
        for piece in select * from observation_parts(input.observation) loop
            number := number + 1;
            if keep_observation(
                    input.entity, piece.content, known_model, case when known_model is not null then embeddings[number] end, origin,
                                piece.whole, piece.part) then
                fresh := true;
            end if;
        end loop;
        if fresh then
            place := input.place; content := observation_text(input.observation);
            touched := touched || input.entity;
            return next;
        end if;
    end loop;
    -- Update each entity only once. Each update adds a version of the row, which makes the row slower to find.
    update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = any(touched);
end
$$;

comment on function textrawl.keep_observations is
    'Store observations [{id, observations}] of entities that the caller has locked, and return the new observations. '
    'An observation is a text or a list of parts. The parameter embeddings has one vector for each part.';
