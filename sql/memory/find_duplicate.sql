create function textrawl.find_duplicate(
    space integer, entity uuid, content text, replaced uuid, model integer, embedding halfvec
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
      and (o.valid_until is null or o.valid_until > clock_timestamp())
    limit 1;
    -- A correction is close to what it corrects and must not be taken for it.
    if found_id is not null or embedding is null or replaced is not null then
        return found_id;
    end if;
    -- "+ 0" keeps the index over all entities' vectors out: it may miss, and this must not. Texts are
    -- compared last, nearest first (offset 0: not before the vectors), until one states the same.
    execute format($query$
        select id from (
            select o.id, o.content, (v.vector <=> $3) + 0 as distance
            from observation o join %I v on v.space_id = o.space_id and v.observation_id = o.id
            where o.space_id = $1 and o.entity_id = $2
              and (o.valid_until is null or o.valid_until > clock_timestamp())
              and (v.vector <=> $3) + 0 <= 0.05
            order by distance, o.id offset 0) near
        where states_the_same(content, $4) limit 1$query$, 'embedding_' || model)
    into found_id using space, entity, embedding, find_duplicate.content;
    return found_id;
end
$$;

comment on function textrawl.find_duplicate is
    'The valid fact of an entity that says the same: equal but for case, white space and final punctuation, else cosine >= 0.95 and states_the_same().';
