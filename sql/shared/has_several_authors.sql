create function textrawl.has_several_authors(space integer) returns boolean
language sql stable parallel safe
set search_path from current
begin atomic
    -- Each of min() and max() reads one entry of observation_author_idx.
    select coalesce(min(o.author_id) <> max(o.author_id), false)
    from textrawl.observation o where o.space_id = has_several_authors.space;
end;

comment on function textrawl.has_several_authors is
    'True if facts or relations of a space have more than one author. Facts and relations that have ended count too. '
    'Answers then say who wrote each fact. '
    'Example: select name from textrawl.space s where textrawl.has_several_authors(s.id);';
