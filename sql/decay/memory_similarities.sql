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
    embedded boolean := exists (select from embedding_model m where m.id = memory_similarities.model);
    compared boolean := coalesce(by_words, not embedded);
begin
    if by_words is null and embedded then
        compared := (
            select count(v.vector) < cardinality(memories) from unnest(memories) m (id)
            left join embedding v on v.model_id = memory_similarities.model and v.space_id = home and v.observation_id = m.id);
    end if;
    if compared or not embedded then
        return query
        select w.one, w.other, w.similarity, true from word_similarities(home, memories, threshold, groups) w;
        return;
    end if;
    return query
        with member as materialized (
            select m.id, m.place, m.in_group, v.vector
            from unnest(memories, groups) with ordinality m (id, in_group, place)
            join embedding v on v.model_id = memory_similarities.model and v.space_id = home and v.observation_id = m.id
        )
        select p.one, p.other, p.cosine, false from (
            select a.id as one, b.id as other, coalesce(nullif(1 - (a.vector <=> b.vector), 'nan'), 0) as cosine
            from member a join member b on b.place > a.place and b.in_group is not distinct from a.in_group
            offset 0) p
        where p.cosine >= threshold;
end
$$;

comment on function textrawl.memory_similarities is
    'Pairs of the given memories with at least this similarity. Errors: TR010, TR011 (access). '
    'Example: select one, other, similarity from textrawl.memory_similarities(array(select observation_id from textrawl.memory_decay), 0.8);';
