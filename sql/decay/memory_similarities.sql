create function textrawl.memory_similarities(
    memories uuid[],
    threshold double precision default -1,
    groups integer[] default null,  -- group of each memory; only memories of one group are compared
    by_words boolean default null,  -- null: compare vectors if every memory has one, otherwise words
    model integer default null, space integer default null, credential bytea default null
) returns table (
    one uuid, other uuid,         -- other comes later in `memories`
    similarity double precision,  -- cosine of the vectors, or the number of common words divided by all words (Jaccard)
    words boolean                 -- true if words were compared
)
language plpgsql stable security definer rows 1000
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    home     integer := graph_space(credential, space);
    embedded text := (select format('textrawl.%I', 'embedding_' || m.id) from embedding_model m where m.id = model);
    compared boolean := coalesce(by_words, embedded is null);
begin
    if by_words is null and embedded is not null then
        execute format('select count(v.vector) < cardinality($1) from unnest($1) m(id)
                        left join %s v on v.space_id = $2 and v.observation_id = m.id', embedded)
        into compared using memories, home;
    end if;
    if compared or embedded is null then
        return query
        select w.one, w.other, w.similarity, true from word_similarities(home, memories, threshold, groups) w;
        return;
    end if;
    return query execute format($query$
        with member as materialized (
            select m.id, m.place, m.in_group, v.vector
            from unnest($1, $2) with ordinality m(id, in_group, place)
            join %s v on v.space_id = $3 and v.observation_id = m.id
        )
        select p.one, p.other, p.cosine, false from (
            select a.id as one, b.id as other, coalesce(nullif(1 - (a.vector <=> b.vector), 'nan'), 0) as cosine
            from member a join member b on b.place > a.place and b.in_group is not distinct from a.in_group
            offset 0) p
        where p.cosine >= $4$query$, embedded)
    using memories, groups, home, threshold;
end
$$;

comment on function textrawl.memory_similarities is
    'Pairs of the given memories with at least this similarity. Errors: TR010, TR011 (access). '
    'Example: select one, other, similarity from textrawl.memory_similarities(array(select observation_id from textrawl.memory_decay), 0.8);';
