create function textrawl.similar_observations(
    entity text default null, model integer default null,
    threshold double precision default 0.85, containment double precision default 0.7, max_rows integer default 500,
    space integer default null, credential bytea default null
) returns table (entity_name text, total bigint, one text, other text, similarity double precision, match_type text)
language plpgsql stable security definer rows 100
set search_path from current
as $$
#variable_conflict use_column
declare
    place integer := graph_space(credential, space);
begin
    return query execute format($query$
        with fact as materialized (
            select o.space_id, o.id, o.entity_id, e.name, o.content, o.created_at, v.vector
            from textrawl.entity e
            join textrawl.observation o on o.space_id = e.space_id and o.entity_id = e.id
            left join %s v on v.space_id = o.space_id and v.observation_id = o.id
            where e.space_id = $1 and ($2 is null or e.name_key = textrawl.name_key($2))
              and (o.valid_until is null or o.valid_until > clock_timestamp())
        ), pair as (
            select a.name, a.entity_id, a.content as one, b.content as other, a.created_at, a.id,
                nullif(1 - (a.vector <=> b.vector), 'nan') as cosine,
                case when greatest(char_length(a.content), char_length(b.content)) >= 2.0 * least(char_length(a.content), char_length(b.content))
                     then textrawl.text_containment(a.content, b.content) end as contained
            from fact a join fact b on b.entity_id = a.entity_id and (b.created_at, b.id) > (a.created_at, a.id)
        )
        select p.name, (select count(*) from fact f where f.entity_id = p.entity_id), p.one, p.other,
            case when p.cosine >= $3 then p.cosine else p.contained end,
            case when p.cosine >= $3 then 'cosine' else 'containment' end
        from pair p where p.cosine >= $3 or p.contained >= $4
        order by p.name, p.created_at, p.id, p.other limit $5$query$,
        case when exists (select from embedding_model m where m.id = model) then format('textrawl.%I', 'embedding_' || model)
             else '(select null::integer as space_id, null::uuid as observation_id, null::halfvec as vector where false)' end)
    using place, entity, threshold, containment, max_rows;
end
$$;

comment on function textrawl.similar_observations is
    'Pairs of facts of one entity, or of each, that may say the same: cosine of their vectors, or, where one text is at least twice as long, the share of the shorter one''s words in it. Errors: TR010, TR011 (access). Example: select one, other, similarity from textrawl.similar_observations(''Ada'');';
