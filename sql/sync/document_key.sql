create function textrawl.document_key(
    change jsonb,
    out kind text, out path text,
    out entity text,      -- null: an identity file has no entity
    out period daterange  -- null for an identity file
)
language plpgsql immutable
set search_path from current
as $$
#variable_conflict use_column
begin
    if change ? 'granularity' then
        kind := 'journal';
        select k.path, k.entity, k.period into path, entity, period
        from journal_key(change ->> 'granularity', change ->> 'date', change ->> 'instance', change ->> 'slug') k;
    else
        kind := 'identity';
        path := identity_path(change ->> 'category', change ->> 'filename');
    end if;
end
$$;

comment on function textrawl.document_key is
    'The key of the document in a change of push_changes(). Errors: TR056 (wrong key of an entry), TR090 (not a filename). '
    'Example: select path from textrawl.document_key(''{"category":"self","filename":"my_wants.md"}'');';
