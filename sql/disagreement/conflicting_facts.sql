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
    ), newest as materialized (
        select o.space_id, o.entity_id, o.id, o.created_at, o.claim, o.claim ->> 'topic' as topic, o.claim ->> 'predicate' as predicate,
            o.claim ? 'negative' as negative
        from changed join local_facts() o on o.space_id = changed.space_id and o.entity_id = changed.entity_id
        where o.claim is not null and is_valid(o.valid_from, o.valid_until, o.closed_at)
        order by changed.updated_at desc, o.entity_id, o.created_at desc, o.id limit most_facts
    ), comparable as (
        -- Facts of one topic have other values, and a negation is the opposite of any fact with its predicate.
        select space_id, entity_id, id, created_at, claim, negative, 't ' || topic as frame, false as opposite from newest where topic is not null
        union all
        select n.space_id, n.entity_id, n.id, n.created_at, n.claim, n.negative, 'p ' || n.predicate, true from newest n where n.topic is null
    ), placed as materialized (
        -- Thousands of similar facts of one entity, such as a log, would be millions of pairs.
        select * from (
            select *, row_number() over (partition by space_id, entity_id, frame, opposite and negative order by created_at desc, id) as place
            from comparable) c
        where place <= 30
    ), pair as (
        select space_id, one.id as one, other.id as other, compared.reason, other.created_at
        from placed one join placed other using (space_id, entity_id, frame)
        cross join lateral (select compare_claims(one.claim, other.claim) as reason) compared
        where (one.created_at, one.id) < (other.created_at, other.id)
          and case when not one.opposite or one.negative <> other.negative then compared.reason is not null end
        union all
        select told.space_id, known.id, told.id, 'over', told.created_at
        from (select *, row_number() over (partition by space_id, entity_id order by created_at desc, id) as place
              from newest where claim -> 'ends' ?| '{by,now}') told
        cross join lateral (
            select * from newest k where k.space_id = told.space_id and k.entity_id = told.entity_id and k.created_at < told.created_at
            order by k.created_at desc, k.id limit 100) known
        where told.place <= 30 and ended_by(told.claim, known.claim) is not null
    )
    select distinct on (p.created_at, p.one, p.other) p.space_id, p.one, p.other, p.reason from pair p
    where not exists (select from dismissal d where d.space_id = p.space_id and d.kind = 'close'
                        and d.one = least(p.one, p.other) and d.other = greatest(p.one, p.other))
    order by p.created_at desc, p.one, p.other, p.reason = 'over' limit max_rows;
end
$$;

comment on function textrawl.conflicting_facts is
    'Pairs of valid facts of one entity that disagree and that nobody dismissed, the newest pair first. The older fact of a pair comes first. reason '
    'is other value or opposite, as in disagreement(), or over, as in ended_by(). At most most_facts facts are read, those of the entities that '
    'changed last, and the newest 30 of an entity that begin alike are compared. Errors: TR010, TR011 (access). Example: select * from textrawl.conflicting_facts();';
