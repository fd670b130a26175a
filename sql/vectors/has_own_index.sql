create function textrawl.has_own_index(space integer, model integer) returns boolean
language sql stable parallel safe
begin atomic
    select exists (
        select from pg_index where indexrelid = to_regclass('textrawl.' || textrawl.own_index_name(model, space)) and indisvalid);
end;

comment on function textrawl.has_own_index is
    'True if a space has its own vector index for a model, and this index is completely built. '
    'Example: select textrawl.has_own_index(1, 1);';
