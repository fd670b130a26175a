create function textrawl.keep_observations(
    nodes jsonb, model integer, embeddings halfvec[], origin textrawl.origin
) returns table (place bigint, content text)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    said    record;
    touched uuid[] := '{}';
    known   integer := (select m.id from embedding_model m where m.id = keep_observations.model);
begin
    for said in
        select node.ordinality as place, (node.value ->> 'id')::uuid as entity, text.value as content,
            row_number() over (order by node.ordinality, text.ordinality) as number
        from jsonb_array_elements(nodes) with ordinality node,
             jsonb_array_elements_text(coalesce(nullif(node.value -> 'observations', 'null'), '[]')) with ordinality text
        order by number
    loop
        if keep_observation(said.entity, said.content, known, case when known is not null then embeddings[said.number] end, origin) then
            place := said.place; content := said.content;
            touched := touched || said.entity;
            return next;
        end if;
    end loop;
    -- Once each: every version of a row within a transaction makes the next one slower to find.
    update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = any(touched);
end
$$;

comment on function textrawl.keep_observations is
    'Stores observations [{id, observations}] of entities that the caller has claimed, in order; returns those that are new.';
