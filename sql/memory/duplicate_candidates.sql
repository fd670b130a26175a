create function textrawl.duplicate_candidates(space integer, facts textrawl.new_fact[], replaced uuid, model integer)
returns table (place bigint, id uuid, ordinal bigint, earlier bigint, content text, distance double precision)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    select f.ordinality, o.id, o.ordinal, null::bigint, o.content, null::double precision
    from unnest(facts) with ordinality f
    join observation o on o.space_id = space and o.entity_id = f.entity_id and o.content_hash = f.content_hash
    where o.id is distinct from replaced
      -- The same call again, with an end that lies in the past, finds its own fact.
      and (o.valid_until is null or o.valid_until > clock_timestamp() or o.valid_until = f.valid_until and o.replaced_by is null);
    return query
    select f.ordinality, e.id, null::bigint, e.ordinality, e.content,
           case when e.content_hash <> f.content_hash then e.vector <=> f.vector end
    from unnest(facts) with ordinality f
    join unnest(facts) with ordinality e on e.entity_id = f.entity_id and e.ordinality < f.ordinality
    where (e.valid_until is null or e.valid_until > clock_timestamp()
           or e.content_hash = f.content_hash and e.valid_until = f.valid_until)
      and (e.content_hash = f.content_hash or model is not null and e.vector <=> f.vector <= 0.05);
    -- A correction is close to what it corrects and must not be taken for it.
    if model is null or replaced is not null then
        return;
    end if;
    -- By the key from each fact of the entity (lateral): neither the index over all vectors, which may
    -- miss, nor a scan of them.
    return query execute format($query$
        select f.ordinality, o.id, o.ordinal, null::bigint, o.content, near.distance
        from unnest($2) with ordinality f
        join observation o on o.space_id = $1 and o.entity_id = f.entity_id
        cross join lateral (
            select v.vector <=> f.vector as distance from %I v
            where v.space_id = o.space_id and v.observation_id = o.id offset 0) near
        where (o.valid_until is null or o.valid_until > clock_timestamp()) and near.distance <= 0.05$query$, 'embedding_' || model)
    using space, facts;
end
$$;

comment on function textrawl.duplicate_candidates is
    'What new facts may repeat: facts of the same entity, stored or told earlier in the same array, with the same words (distance null) or a vector that is near.';
