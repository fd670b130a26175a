create function textrawl.is_cross_domain(tags text[], context_tags text[]) returns boolean
language sql immutable parallel safe
begin atomic
    select cardinality(tags) > 0 and cardinality(context_tags) > 0 and textrawl.jaccard(tags, context_tags) < 0.3;
end;

comment on function textrawl.is_cross_domain is
    'True if a memory is used in another domain than its own: both have tags, and the tags differ. '
    'Example: select textrawl.is_cross_domain(''{security,jwt}'', ''{api,backend}'');';
