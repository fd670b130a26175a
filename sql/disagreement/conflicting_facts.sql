create function textrawl.conflicting_facts(
    most_facts integer default 5000, max_rows integer default 500,
    entities integer default null,  -- only facts of this number of entities, those that changed last
    spaces integer[] default null, credential bytea default null
)
returns table (space_id integer, one uuid, other uuid, reason text)
language plpgsql stable security definer rows 100
set search_path from current
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    with changed as materialized (
        select e.* from unnest(readable_spaces(credential, conflicting_facts.spaces)) space (id)
        cross join lateral (
            select e.space_id, e.id as entity_id, e.updated_at from entity e
            where e.space_id = space.id order by e.updated_at desc, e.id limit entities) e
        order by e.updated_at desc, e.entity_id limit entities
    ), newest as (
        select o.space_id, o.entity_id, o.id, o.content, o.created_at
        from changed join fact o on o.space_id = changed.space_id and o.entity_id = changed.entity_id
        where o.whole is null and is_valid(o.valid_from, o.valid_until, o.closed_at)
        order by changed.updated_at desc, o.entity_id, o.created_at desc, o.id limit most_facts
    ), claim as materialized (
        -- Comparing takes longer than reading. So compare only facts with the same predicate and subject. If the
        -- predicate has several values, they must also have the same first word, and numbers or one negation.
        select n.space_id, n.entity_id, n.id, n.content, n.created_at, s.language, c.negative, several.values,
            '#' = any(select left(item, 1) from unnest(c.items) item) as counted,
            concat_ws('|', c.predicate, case when not c.named and c.predicate <> 'lead' then array_to_string(c.subject, ' ') else '' end,
                case when several.values then regexp_replace(c.items[1], '^#.*', '#') end) as frame
        from newest n
        join space s on s.id = n.space_id
        cross join lateral read_claim(n.content, s.language) c
        cross join lateral (select c.predicate ~ '^(like|be|has|v:.*|)$' as values) several
        where cardinality(c.items) <= 12 or not several.values
    ), newest_claim as (
        -- Thousands of similar facts of one entity, such as a log, would be millions of pairs.
        select * from (
            select *, row_number() over (partition by space_id, entity_id, frame order by created_at desc, id) as place from claim) c
        where place <= 30
    )
    select space_id, one.id, other.id, compared.reason
    from newest_claim one join newest_claim other using (space_id, entity_id, frame)
    cross join lateral (select disagreement(one.content, other.content, one.language) as reason) compared
    where (one.created_at, one.id) < (other.created_at, other.id)
      and case when not one.values or one.negative <> other.negative or one.counted and other.counted then compared.reason is not null end
      and not exists (select from dismissal d where d.space_id = one.space_id and d.kind = 'close'
                        and d.one = least(one.id, other.id) and d.other = greatest(one.id, other.id))
    order by greatest(one.created_at, other.created_at) desc, one.id, other.id limit max_rows;
end
$$;

comment on function textrawl.conflicting_facts is
    'Pairs of valid facts of one entity that disagree and that nobody dismissed, the newest pair first. The older fact of a pair comes first. reason '
    'is other value or opposite, as in disagreement(). At most most_facts facts are read, those of the entities that '
    'changed last, and the newest 30 of an entity that begin alike are compared. Errors: TR010, TR011 (access). Example: select * from textrawl.conflicting_facts();';
