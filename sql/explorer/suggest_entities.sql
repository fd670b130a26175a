create function textrawl.suggest_entities(
    typed text, max_rows integer default 8, spaces integer[] default null, credential bytea default null
) returns table (
    name text, entity_type text,
    space text,  -- the first one of several that have an entity of this name
    match text   -- exact, beginning, word or similar
)
language sql stable security definer rows 8
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, suggest_entities.spaces) as ids, textrawl.name_key(typed) as key
    ), completed as materialized (
        select c.entity_name, c.name_key, c.rank, c.updated_at
        from textrawl.complete_name(typed, null, suggest_entities.max_rows, suggest_entities.spaces, suggest_entities.credential) c
        where (select key from scope) <> ''
    ), exact as materialized (
        select e.name, e.name_key, 0 as rank, e.updated_at
        from textrawl.find_entities((select ids from scope)::integer[], typed) f
        join textrawl.entity e on e.space_id = f.space_id and e.id = f.entity_id
    ), asked as materialized (
        select f.* from textrawl.name_form(typed) f
    ), alike as materialized (
        -- A name is compared as far as it is typed. This takes time, so do it only if places are left.
        select s.entity_name, 3 as rank, c.likeness
        from asked a
        cross join textrawl.similar_names(typed, 20, suggest_entities.spaces, suggest_entities.credential) s
        cross join lateral textrawl.name_form(left(s.entity_name, char_length(typed) + 1)) b
        cross join lateral textrawl.compare_forms(a.words, b.words, a.squeezed, b.squeezed, a.short, b.short,
            a.numbers, b.numbers, a.trigrams, b.trigrams) c
        where (select count(*) from completed) < suggest_entities.max_rows and char_length((select key from scope)) > 2
    ), found as (
        select x.name, x.name_key, x.rank, 1::double precision as likeness, x.updated_at from exact x
        union all
        select c.entity_name, c.name_key, c.rank, 1, c.updated_at from completed c
        union all
        select a.entity_name, textrawl.name_key(a.entity_name), a.rank, a.likeness, null from alike a where a.likeness >= 0.4
    ), best as (
        select distinct on (f.name_key) f.* from found f order by f.name_key, f.rank, f.likeness desc
    ), placed as materialized (
        select b.* from best b order by b.rank, b.likeness desc, b.updated_at desc nulls last, b.name limit suggest_entities.max_rows
    )
    select p.name, owner.entity_type, owner.space, (array['exact', 'beginning', 'word', 'similar'])[p.rank + 1]
    from placed p
    cross join lateral (
        select e.entity_type, s.name as space
        from textrawl.find_entities((select ids from scope)::integer[], p.name) f
        join textrawl.entity e on e.space_id = f.space_id and e.id = f.entity_id
        join textrawl.space s on s.id = e.space_id
        order by array_position((select ids from scope), e.space_id) limit 1) owner
    order by p.rank, p.likeness desc, p.updated_at desc nulls last, p.name;
end;

comment on function textrawl.suggest_entities is
    'Names of entities for a name that somebody is typing: the entity of this name or alias, names with this beginning, '
    'names with a word that has it, and then similar names. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select name, match from textrawl.suggest_entities(''schedulr-w'');';
