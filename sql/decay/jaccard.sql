create function textrawl.jaccard(one text[], other text[]) returns double precision
language sql immutable parallel safe
begin atomic
    select coalesce(count(*) filter (where sides = 2)::double precision / nullif(count(*), 0), 0)
    from (select item, count(distinct side) as sides
          from (select unnest(one) as item, 1 as side union all select unnest(other), 2) listed group by item) counted;
end;

comment on function textrawl.jaccard is
    'The number of items that two lists share, divided by the number of all their items. Two empty lists: 0. '
    'Example: select textrawl.jaccard(''{api,jwt}'', ''{api,backend}'');';
