create function textrawl.place_chunks(space integer, document uuid, content text, attributes jsonb) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    with piece as materialized (
        select * from source_parts(content, attributes)
    ), placed as (
        insert into chunk as c (space_id, observation_id, tokens, line)
        select place_chunks.space, o.id, p.tokens, p.line
        from document d
        join fact o on o.space_id = d.space_id and o.entity_id = d.entity_id and o.whole = d.id
        join piece p on p.part = o.part
        where d.space_id = place_chunks.space and d.id = document
        on conflict (space_id, observation_id) do update set tokens = excluded.tokens, line = excluded.line
        where (c.tokens, c.line) is distinct from (excluded.tokens, excluded.line)
    )
    update source s
    set content_hash = case when place_chunks.content is not null then attributes ->> 'sha256' end,
        chunks = (select count(*) from piece), tokens = (select coalesce(sum(tokens), 0) from piece)
    where s.space_id = place_chunks.space and s.document_id = document;
end
$$;

comment on function textrawl.place_chunks is
    'Store the sizes and lines of the chunks of a source, after place_parts() stored their texts, and the totals of the '
    'source.';
