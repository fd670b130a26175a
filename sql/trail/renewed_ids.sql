create function textrawl.renewed_ids(id uuid) returns table (renewed uuid, place integer)
language sql immutable parallel safe rows 16
begin atomic
    with recursive chain (renewed, place) as (
        select id, 0
        union all
        select md5(c.renewed::text)::uuid, c.place + 1 from chain c where c.place < 16)
    select c.renewed, c.place from chain c;
end;

comment on function textrawl.renewed_ids is
    'The id of a fact or relation, then the ids under which imports store it while undos keep the earlier ids.';
