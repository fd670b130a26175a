create function textrawl.close_pairs(
    entities integer default 200, max_rows integer default 50, spaces integer[] default null, credential bytea default null
)
returns table (
    space text, entity_name text, entity_type text,
    kind text,  -- conflict: the two disagree; duplicate: very similar facts that do not
    reason text,  -- of a conflict: other value or opposite
    similarity real,  -- of a duplicate
    one_id uuid, one text, one_author text, one_at timestamptz,
    other_id uuid, other text, other_author text, other_at timestamptz,
    total bigint  -- number of pairs of this kind
)
language sql stable security definer rows 50
set search_path from current
begin atomic
    with conflict as materialized (
        select * from textrawl.conflicting_facts(entities => close_pairs.entities, spaces => close_pairs.spaces, credential => close_pairs.credential)
    ), pair as (
        select 'conflict' as kind, c.reason, null::real as cosine, c.space_id, c.one, c.other from conflict c
        union all
        select 'duplicate', null, near_pair.cosine, near_pair.space_id, near_pair.one, near_pair.other
        from textrawl.near_facts(0.9, 30000, 500, close_pairs.entities, close_pairs.spaces, close_pairs.credential) near_pair
        where not exists (select from conflict c where c.space_id = near_pair.space_id
                            and least(c.one, c.other) = least(near_pair.one, near_pair.other)
                            and greatest(c.one, c.other) = greatest(near_pair.one, near_pair.other))
    )
    select c.space, c.entity_name, c.entity_type, c.kind, c.reason, c.similarity, c.one_id, c.one, c.one_author, c.one_at,
        c.other_id, c.other, c.other_author, c.other_at, c.total
    from (
        select p.name as space, e.name as entity_name, e.entity_type, pair.kind, pair.reason, pair.cosine as similarity,
            one.id as one_id, one.content as one, a.name as one_author, one.created_at as one_at,
            other.id as other_id, other.content as other, b.name as other_author, other.created_at as other_at,
            count(*) over (partition by pair.kind) as total,
            row_number() over (partition by pair.kind order by pair.cosine desc, other.created_at desc, one.id, other.id) as place
        from pair
        join textrawl.fact one on one.space_id = pair.space_id and one.id = pair.one
        join textrawl.fact other on other.space_id = pair.space_id and other.id = pair.other
        join textrawl.entity e on e.space_id = one.space_id and e.id = one.entity_id
        join textrawl.space p on p.id = one.space_id
        join textrawl.actor a on a.id = one.author_id
        join textrawl.actor b on b.id = other.author_id) c
    where c.place <= close_pairs.max_rows
    order by c.kind desc, c.place;
end;

comment on function textrawl.close_pairs is
    'Pairs of valid facts of one entity that are candidates for duplicates (the most similar first) or conflicts (the newest '
    'first), at most max_rows of each kind. Only the entities that changed last are compared, so the function is fast in a '
    'large memory. memory_duplicates and memory_conflicts compare more. Errors: TR010, TR011 (access). '
    'Example: select kind, entity_name, one, other from textrawl.close_pairs();';
