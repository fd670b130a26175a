create function textrawl.near_facts(
    similarity real default 0.9, most_pairs bigint default 1000000, max_rows integer default 5000,
    entities integer default null,  -- only facts of this number of entities, those that changed last
    spaces integer[] default null, credential bytea default null
)
returns table (space_id integer, one uuid, other uuid, cosine real)
language plpgsql stable security definer rows 500
set search_path from current
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    model integer := active_model();
begin
    if model is null then
        return;
    end if;
    -- All pairs of all entities would be too many. Start with the entities that have the newest facts. Compare the
    -- newest 300 facts of each entity, until most_pairs pairs are compared.
    return query execute format($query$
        with changed as materialized (
            select e.* from unnest($1) space (id)
            cross join lateral (
                select e.space_id, e.id as entity_id, e.updated_at from textrawl.entity e
                where e.space_id = space.id order by e.updated_at desc, e.id limit $5) e
            where $5 is not null
            order by e.updated_at desc, e.entity_id limit $5
        ), entity as (
            select o.space_id, o.entity_id, max(o.created_at) as last, least(count(*), 300) as facts
            from %s
            where o.space_id = any($1) and is_valid(o.valid_from, o.valid_until, o.closed_at)
            group by o.space_id, o.entity_id having count(*) > 1
        ), chosen as (
            select space_id, entity_id, facts from (
                select *, sum(facts * (facts - 1) / 2) over (order by last desc, entity_id) as pairs from entity) e
            where pairs <= $3 or facts = pairs
        ), fact as materialized (
            select * from chosen cross join lateral (
                select id, vector, row_number() over (order by created_at desc, id) as rank
                from (
                    select o.id, o.created_at from textrawl.fact o
                    where o.space_id = chosen.space_id and o.entity_id = chosen.entity_id
                      and is_valid(o.valid_from, o.valid_until, o.closed_at)
                    order by o.created_at desc, o.id limit 300) newest
                join %I v on v.space_id = chosen.space_id and v.observation_id = newest.id) vectors
        )
        select space_id, one.id, other.id, (1 - (one.vector <=> other.vector))::real
        from fact one join fact other using (space_id, entity_id)
        where one.rank > other.rank and one.vector <=> other.vector <= 1 - $2
          and not exists (select from textrawl.dismissal d where d.space_id = one.space_id and d.kind = 'close'
                            and d.one = least(one.id, other.id) and d.other = greatest(one.id, other.id))
        order by 4 desc, 2, 3 limit $4$query$,
        case when entities is null then 'textrawl.fact o' else 'changed join textrawl.fact o using (space_id, entity_id)' end,
        'embedding_' || model)
    using readable_spaces(credential, near_facts.spaces), similarity, most_pairs, max_rows, entities;
end
$$;

comment on function textrawl.near_facts is
    'Pairs of valid facts of one entity whose cosine is at least the given similarity, and that nobody dismissed, the most similar pair first. '
    'The older fact of a pair comes first. At most most_pairs pairs are compared, starting with the entities that have the '
    'newest facts. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.near_facts(0.95);';
