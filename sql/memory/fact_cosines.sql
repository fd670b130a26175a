create function textrawl.fact_cosines(model integer, vector halfvec, spaces integer[], ids uuid[])
returns table (space_id integer, id uuid, cosine double precision)
language plpgsql stable rows 100
set search_path from current
as $$
begin
    if vector is null then
        return query select fact.space_id, fact.id, null::float8 from unnest(spaces, ids) as fact (space_id, id);
    else
        -- A text without any known word has a vector of zeros. Its cosine with any vector is NaN.
        return query execute format($sql$
            select fact.space_id, fact.id, (
                select nullif(1 - (v.vector <=> $1), 'nan') from %I v where v.space_id = fact.space_id and v.observation_id = fact.id)
            from unnest($2, $3) as fact (space_id, id)$sql$, 'embedding_' || model)
        using vector, spaces, ids;
    end if;
end
$$;

comment on function textrawl.fact_cosines is
    'The cosine of a given vector and the vector of each given fact; null for a fact without a vector. '
    'Example: select * from textrawl.fact_cosines(1, ''[1,0,0]'', array[1], array[gen_random_uuid()]);';
