create function textrawl.find_relations(space integer, entity text, reference text) returns uuid[]
language sql stable
begin atomic
    with named as (
        select textrawl.entity_key(find_relations.space, entity) as key, replace(reference, '->', '→') as text
    ), forms as (
        -- Accept the forms in which answers show a relation. In the format compact: works_at→Acme Corp, Sarah→manages.
        -- In the format lines: → works_at Acme Corp, ← manages Sarah. A name or a type can have an arrow too, so try
        -- each arrow.
        select key, '' as sign, left(text, place - 1) as one, ltrim(substr(text, place + 1)) as other
        from named cross join lateral generate_series(2, char_length(text)) place
        where substr(text, place, 1) = '→'
        union all
        select key, part[1], part[2], part[3]
        from named cross join lateral regexp_match(replace(text, '<-', '←'), '^(→|←)\s*(\S+)\s+(.+)$') part
        where part is not null
        union all
        select key, null, '', '' from named
    ), parts as materialized (
        select key, sign, textrawl.relation_key(one) as one_type, textrawl.relation_key(other) as other_type,
            array[textrawl.entity_key(find_relations.space, one), textrawl.name_key(one)] as one_names,
            array[textrawl.entity_key(find_relations.space, other), textrawl.name_key(other)] as other_names
        from forms
    ), stored as (
        select r.id, r.relation_type, source.name_key as source, target.name_key as target
        from named subject
        join textrawl.entity named on named.space_id = find_relations.space and named.name_key = subject.key
        cross join lateral (
            -- Use two branches. If one condition covered both ends, Postgres would read every relation of the space.
            select * from textrawl.relation f where f.space_id = named.space_id and f.from_entity = named.id
            union
            select * from textrawl.relation t where t.space_id = named.space_id and t.to_entity = named.id) r
        join textrawl.entity source on source.space_id = r.space_id and source.id = r.from_entity
        join textrawl.entity target on target.space_id = r.space_id and target.id = r.to_entity
        union all
        -- Include relations that an undo removed, because they can still be restored.
        select u.id, u.before ->> 'relation_type',
            (select k.value ->> 'name_key' from jsonb_array_elements(u.entities) k where k.value ->> 'id' = u.before ->> 'from_entity'),
            (select k.value ->> 'name_key' from jsonb_array_elements(u.entities) k where k.value ->> 'id' = u.before ->> 'to_entity')
        from textrawl.undone u where u.space_id = find_relations.space and u.names && textrawl.entity_keys(find_relations.space, entity)
          and u.kind = 'relation' and u.action = 'remove'
    ), match as (
        select s.id, case
            when textrawl.is_fact_id(reference) and starts_with(s.id::text, lower(reference)) then 1
            when sign in ('', '→') and s.source = key and s.relation_type = one_type and s.target_name = any(other_names) then 2
            when sign = '' and s.target = key and s.relation_type = other_type and s.source_name = any(one_names) then 3
            when sign = '←' and s.target = key and s.relation_type = one_type and s.source_name = any(other_names) then 3 end as kind
        from (select *, replace(source, '->', '→') as source_name, replace(target, '->', '→') as target_name from stored) s, parts
    )
    select coalesce(array_agg(distinct m.id), '{}') from match m where m.kind = (select min(match.kind) from match);
end;

comment on function textrawl.find_relations is
    'The ids of the relations of an entity that match a reference, including ended relations. The reference is an id, '
    'the first 8 or more characters of an id, or the relation as answers show it, such as works_at→Acme Corp or '
    'Sarah→manages. '
    'Example: select textrawl.find_relations(1, ''Jeff'', ''works_at -> Acme Corp'');';
