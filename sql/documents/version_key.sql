create function textrawl.version_key(created_at timestamptz, content text) returns uuid
language sql immutable parallel safe
begin atomic
    select md5(extract(epoch from created_at)::text || case when content is null then '' else ' ' || content end)::uuid;
end;

comment on function textrawl.version_key is
    'A key that identifies a version among the versions of its document. The key is the same in every memory, while the '
    'number of the version can differ.';
