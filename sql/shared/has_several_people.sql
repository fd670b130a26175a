create function textrawl.has_several_people(space integer) returns boolean
language sql stable parallel safe
begin atomic
    with recursive author (id) as (
        select 0
        union all
        select (select o.author_id from textrawl.observation o
                where o.space_id = has_several_people.space and o.author_id > author.id and o.author_id > 0
                order by o.author_id limit 1)
        from author where author.id is not null
    )
    select not exists (select from textrawl.import_run r where r.space_id = has_several_people.space) or 1 < (
        select count(*) from author
        where author.id > 0 and (
            -- Imported facts have the system as their author, which has no token.
            exists (select from textrawl.token t where t.actor_id = author.id)
            or (select o.tool from textrawl.observation o
                where o.space_id = has_several_people.space and o.author_id = author.id and o.author_id > 0
                order by o.author_id limit 1) <> 'import'));
end;

comment on function textrawl.has_several_people is
    'True if several authors of a space are more than the systems of its imports. '
    'Example: select name from textrawl.space s where textrawl.has_several_people(s.id);';
