create function textrawl.find_same_entities(
    entity text default null,           -- only pairs with this entity
    min_score double precision default 0.5, max_rows integer default 20,
    spaces integer[] default null, credential bytea default null
) returns table (
    space text,
    entity_id uuid, entity_name text, entity_type text, facts bigint,  -- the entity to keep: it has more facts, or is older
    other_id uuid, other_name text, other_type text, other_facts bigint,
    score double precision,  -- from 0 to 1
    name_score double precision, shared_facts bigint, shared_relations bigint,
    cosine double precision  -- of the means of their newest vectors; null without vectors
)
language plpgsql stable security definer rows 20
set search_path from current
as $$
#variable_conflict use_column
declare
    space_ids integer[] := readable_spaces(credential, find_same_entities.spaces);
    chosen uuid := (select f.entity_id from find_entities(space_ids, find_same_entities.entity) f
                    order by array_position(space_ids, f.space_id) limit 1);
begin
    if find_same_entities.entity is not null and chosen is null then
        raise exception using errcode = 'TR050', message = 'no such entity', detail = find_same_entities.entity;
    end if;
    return query
        select p.* from judge_pairs(space_ids, chosen, max_rows) p
        where p.score >= min_score order by p.score desc, p.entity_name, p.other_name limit max_rows;
end
$$;

comment on function textrawl.find_same_entities is
    'Pairs of entities that can be one entity under two names, and that nobody dismissed, with a score. The score grows with the likeness of their '
    'names, with the facts and relations that they share, and with the cosine of their vectors. Entities of different '
    'stated types get a lower score. Nothing is merged. Errors: TR010, TR011 (access), TR050 (no such entity). '
    'Example: select entity_name, other_name, score from textrawl.find_same_entities() order by score desc;';
