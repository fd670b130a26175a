create function textrawl.fact_hash(content text) returns uuid
language sql immutable parallel safe
begin atomic
    select md5(textrawl.fact_key(content))::uuid;
end;

comment on function textrawl.fact_hash is
    'The hash of fact_key(), stored as observation.content_hash. Facts of one entity with the same hash are the same '
    'fact. '
    'Example: select textrawl.fact_hash(''Likes tea.'') = textrawl.fact_hash(''Likes tea'');';
