create function textrawl.entity_days(
    entity text, max_rows integer default 366, spaces integer[] default null, credential bytea default null
) returns table (day date)  -- in UTC
language sql stable security definer
set search_path from current
begin atomic
    with named as materialized (
        select f.space_id, f.entity_id
        from textrawl.find_entities(textrawl.readable_spaces(credential, entity_days.spaces), entity_days.entity) f
    ), moment as (
        select unnest(array[o.valid_from, o.valid_until]) as at
        from named n join textrawl.fact o on o.space_id = n.space_id and o.entity_id = n.entity_id
        union all
        select unnest(array[r.valid_from, r.valid_until])
        from named n join textrawl.relation r on r.space_id = n.space_id and r.from_entity = n.entity_id
        union all
        select unnest(array[r.valid_from, r.valid_until])
        from named n join textrawl.relation r on r.space_id = n.space_id and r.to_entity = n.entity_id
    ), newest as (
        select distinct (m.at at time zone 'UTC')::date as day from moment m
        where m.at < date_trunc('day', statement_timestamp(), 'UTC')
        order by 1 desc limit max_rows
    )
    select n.day from newest n order by n.day;
end;

comment on function textrawl.entity_days is
    'The days before today on which a fact or a relation of an entity began or ended, in every space that you can read, '
    'oldest first. If there are more than max_rows, the newest. An unknown name gives no row. Errors: TR010, TR011 '
    '(access), TR060 (a given space is a graph). '
    'Example: select day from textrawl.entity_days(''Jeff'');';
