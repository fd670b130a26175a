create function textrawl.keep_observations(
    nodes jsonb, model integer, embeddings halfvec[], origin textrawl.origin
) returns table (place bigint, content text)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    said    record;
    piece   record;
    number  integer := 0;
    fresh   boolean;
    touched uuid[] := '{}';
    known   integer := (select m.id from embedding_model m where m.id = keep_observations.model);
begin
    for said in
        select node.ordinality as place, (node.value ->> 'id')::uuid as entity, text.value as told
        from jsonb_array_elements(nodes) with ordinality node,
             jsonb_array_elements(coalesce(nullif(node.value -> 'observations', 'null'), '[]')) with ordinality text
        order by node.ordinality, text.ordinality
    loop
        fresh := false;
        for piece in select * from observation_parts(said.told) loop
            number := number + 1;
            if keep_observation(said.entity, piece.content, known, case when known is not null then embeddings[number] end, origin,
                                piece.whole, piece.part) then
                fresh := true;
            end if;
        end loop;
        if fresh then
            place := said.place; content := observation_text(said.told);
            touched := touched || said.entity;
            return next;
        end if;
    end loop;
    -- Once each: every version of a row within a transaction makes the next one slower to find.
    update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = any(touched);
end
$$;

comment on function textrawl.keep_observations is
    'Stores observations [{id, observations}] of entities that the caller has claimed, in order; returns those that are new. An observation is a text, or a list of the parts of a long one; embeddings: one for each part.';
