create function textrawl.has_several_authors(space integer) returns boolean
language sql stable parallel safe
begin atomic
    -- Read the first and the last entry of observation_author_idx, whose condition is author_id > 0. With min() and max()
    -- the planner reads all entries of a space of which it has no statistics.
    select coalesce(
        (select o.author_id from textrawl.observation o
         where o.space_id = has_several_authors.space and o.author_id > 0 order by o.author_id limit 1)
        <> (select o.author_id from textrawl.observation o
            where o.space_id = has_several_authors.space and o.author_id > 0 order by o.author_id desc limit 1), false)
        -- Another function, so that a space with one author does not pay for its plan.
        and textrawl.has_several_people(has_several_authors.space);
end;

comment on function textrawl.has_several_authors is
    'True if facts or relations of a space have more than one author. Facts and relations that have ended count too. '
    'The system of an import is no author. Answers then say who wrote each fact. '
    'Example: select name from textrawl.space s where textrawl.has_several_authors(s.id);';
