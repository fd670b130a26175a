create function textrawl.find_duplicate(
    space integer, entity uuid, content text, valid_until timestamptz, replaced uuid,
    model integer, embedding halfvec
) returns uuid
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    found_id uuid;
begin
    select o.id into found_id from observation o
    where o.space_id = space and o.entity_id = entity
      and o.content_hash = md5(fact_key(find_duplicate.content))::uuid
      and o.id is distinct from replaced
      -- The same call again, with an end that lies in the past, finds its own fact.
      and (o.valid_until is null or o.valid_until > clock_timestamp()
           or o.valid_until = find_duplicate.valid_until and o.replaced_by is null)
    limit 1;
    -- A correction is close to what it corrects and must not be taken for it.
    if found_id is not null or embedding is null or replaced is not null then
        return found_id;
    end if;
    -- By the key from each fact of the entity (lateral): neither the index over all vectors, which may
    -- miss, nor a scan of them. Texts are compared last, nearest first, until one states the same.
    execute format($query$
        select id from (
            select o.id, o.content, distance
            from observation o
            cross join lateral (
                select v.vector <=> $3 as distance from %I v
                where v.space_id = o.space_id and v.observation_id = o.id offset 0) near
            where o.space_id = $1 and o.entity_id = $2
              and (o.valid_until is null or o.valid_until > clock_timestamp())
              and distance <= 0.05
            order by distance, o.id offset 0) near
        where states_the_same(content, $4) limit 1$query$, 'embedding_' || model)
    into found_id using space, entity, embedding, find_duplicate.content;
    return found_id;
end
$$;

comment on function textrawl.find_duplicate is
    'The valid fact of an entity that says the same: equal but for case, white space and final punctuation, else cosine >= 0.95 and states_the_same().';
