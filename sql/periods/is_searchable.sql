create function textrawl.is_searchable(
    valid_from timestamptz, valid_until timestamptz, closed_at timestamptz,
    created_at timestamptz, period text, replaced_by uuid,
    as_of timestamptz
) returns boolean
language sql stable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    select textrawl.is_valid(valid_from, valid_until, closed_at, as_of)
        or as_of is null and period is not null and period not like '%/' and valid_until < created_at and valid_from < valid_until
            and replaced_by is null;
end;

comment on function textrawl.is_searchable is
    'True if a search finds a fact: it is valid, as in is_valid(), or it was over when it was stored, and its own text says '
    'so: lived in Hamburg until 2021. Such a text stays true, so it is found after what is true now. Example: select content '
    'from textrawl.observation o where textrawl.is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, null);';
