create function textrawl.find_stated_relations(space integer, max_rows integer default 200)
returns table (fact uuid, relation text, target uuid)
language plpgsql stable
set search_path from current
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    with said as materialized (
        select o.id, o.entity_id, o.created_at, o.content, rest.text
        from fact o
        join entity e on e.space_id = o.space_id and e.id = o.entity_id
        -- Without the name of the entity at the beginning, a fact begins with its verb.
        cross join lateral (select btrim(case when starts_with(lower(o.content), lower(e.name) || ' ')
            then substr(o.content, char_length(e.name) + 2) else o.content end) as text offset 0) rest
        where o.space_id = find_stated_relations.space and o.whole is null and char_length(o.content) <= 120
          and is_valid(o.valid_from, o.valid_until, o.closed_at) and o.content !~ '[?？]'
    ), split as (
        -- One to three words, and then a name: the rest of the text, or words with a capital letter before a time or place.
        -- Before another verb ("asks Ben to come"), the words say only half.
        select s.id, s.entity_id, s.created_at, s.content, lower(part[1]) as verb, name
        from said s
        cross join lateral generate_series(1, 3) size
        cross join lateral regexp_match(s.text, '^((?:[[:alpha:]][[:lower:]'']*\s+){' || size || '})(?:(?:the|an?|der|die|das|den|dem|la|le|el)\s+)?(.+?)[.!]*$') part
        cross join lateral unnest(array[part[2],
            (regexp_match(part[2], '^((?:[[:upper:]][[:alnum:]&''.-]*)(?:\s+[[:upper:][:digit:]][[:alnum:]&''.-]*){0,4}?)(?:\s*[,;(]|\s+(?:since|as|in|at|from|until|seit|als|bei|bis|depuis|comme|jusqu|desde|como|hasta)\M)'))[1]]) name
        where char_length(name) between 2 and 100 and part[1] !~* '\m(that|and|or|if|than|whether|both|dass|und|oder|que|et|ou|y|o)\M'
    ), named as (
        select distinct on (p.id, f.entity_id) p.*, f.entity_id as target
        from split p cross join lateral find_entities(array[find_stated_relations.space], p.name) f
        join entity e on e.space_id = f.space_id and e.id = f.entity_id
        where f.entity_id <> p.entity_id
          -- A name in capitals can be that of something else than the word: POSTGRES is the ancestor of Postgres.
          and (e.name <> upper(e.name) or e.name = lower(e.name) or e.name_key <> name_key(p.name) or p.name = e.name)
        order by p.id, f.entity_id, char_length(p.verb)
    )
    select c.id, c.relation, c.target from (
        select distinct on (n.entity_id, n.target) n.id, n.created_at, regexp_replace(btrim(n.verb), '^(is|are|was|has|ist|est|es) (?=.* )', '') as relation, n.target
        from named n
        where not exists (
                select from relation r where r.space_id = find_stated_relations.space
                  and (r.from_entity = n.entity_id and r.to_entity = n.target or r.from_entity = n.target and r.to_entity = n.entity_id))
          -- Nobody is asked twice, whoever proposed it.
          and not exists (
                select from proposal p
                join entity s on s.space_id = p.space_id and s.id = n.entity_id and p.entity_key = any(entity_keys(p.space_id, s.name_key))
                join entity t on t.space_id = p.space_id and t.id = n.target and p.to_key = any(entity_keys(p.space_id, t.name_key))
                where p.space_id = find_stated_relations.space and p.kind = 'relation'
                  and (p.finding is null and p.decision is distinct from 'withdrawn' or p.decision = 'rejected'))
          and not exists (select from space s, read_claim(n.content, s.language) c
                where s.id = find_stated_relations.space and (c.negative or c.past))
        order by n.entity_id, n.target, n.created_at, char_length(n.verb), n.id) c
    order by c.created_at, c.id, c.target limit max_rows;
end
$$;

comment on function textrawl.find_stated_relations is
    'Relations that a short fact states, such as "works at Acme" if there is an entity Acme, and that the graph lacks: no '
    'relation has ever connected the two entities. `fact` is the fact, `target` the entity that it names after its verb. '
    'Example: select * from textrawl.find_stated_relations(1);';
