create function textrawl.is_told(
    period text, valid_from timestamptz, valid_until timestamptz, created_at timestamptz, replaced_by uuid
) returns boolean
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    select period is not null and period not like '%/' and valid_until < created_at and valid_from < valid_until
        and replaced_by is null;
end;

comment on function textrawl.is_told is
    'True if a fact was over when it was stored, and its own text says so: lived in Hamburg until 2021. Such a text stays '
    'true, so searches find it, after what is true now. '
    'Example: select content from textrawl.fact f where textrawl.is_told(f.period, f.valid_from, f.valid_until, f.created_at, f.replaced_by);';
