create function textrawl.facts_from_authors(
    facts uuid[],
    authors text[] default null,  -- names; null: all
    members boolean default false,
    spaces integer[] default null, credential bytea default null
) returns table (observation_id uuid)
language sql stable security definer rows 50
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, facts_from_authors.spaces) as ids
    )
    select o.id from scope join textrawl.observation o on o.space_id = any(scope.ids) and o.id = any(facts)
    where textrawl.is_from_author(
        o.space_id, o.author_id, o.source, o.tool,
        (select case when authors is not null then array(select a.id from textrawl.actor a where a.name = any(authors)) end),
        members);
end;

comment on function textrawl.facts_from_authors is
    'Those of some facts that have one of these authors. With members, only facts of people and agents who may write to '
    'the space, and no documents and imports. Hooks use this function. Errors: TR010, TR011 (access). '
    'Example: select textrawl.facts_from_authors(array[gen_random_uuid()], members => true);';
