create function textrawl.document_names(
    space integer, entity uuid, relation uuid default null,
    typed boolean default true  -- with the word that a caller gave as the type of the entity
) returns text
language sql stable parallel safe
begin atomic
    select concat_ws(' ', e.name, (
            select string_agg(a.name, ' ' order by a.name_key) from textrawl.entity_alias a
            where a.space_id = e.space_id and a.entity_id = e.id and a.removed_at is null),
            case when typed then nullif(nullif(textrawl.free_type(e.entity_type, e.metadata), e.entity_type), 'Generic') end, (
            -- The text of a statement contains the name that the other end had when the relation was stored.
            select t.name || ' ' || other.names
            from textrawl.relation r
            join textrawl.entity t on t.space_id = r.space_id and t.id = r.to_entity
            cross join lateral (
                select string_agg(a.name, ' ' order by a.name_key) as names from textrawl.entity_alias a
                where a.space_id = t.space_id and a.entity_id = t.id and a.removed_at is null) other
            where r.space_id = e.space_id and r.id = document_names.relation))
    from textrawl.entity e where e.space_id = document_names.space and e.id = document_names.entity;
end;

comment on function textrawl.document_names is
    'The name of an entity with its aliases and its type, for search_document(). If a relation is given: also the name and the '
    'aliases of the entity that it leads to, if that entity has aliases. '
    'Example: select textrawl.document_names(e.space_id, e.id) from textrawl.entity e;';
