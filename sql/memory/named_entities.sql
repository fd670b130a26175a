create function textrawl.named_entities(
    query text, spaces integer[] default null, credential bytea default null
) returns table (mention text)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    scope    integer[] := readable_spaces(credential, spaces);
    words    text[] := (regexp_split_to_array(btrim(query), '\s+'))[:60];
    content  boolean[] := array(select to_tsvector('english', word) <> '' from unnest(words) word);
    mentions text[];
    keys     text[];
    known    text[];
begin
    -- Look up every group of at most four adjacent words as a name. The number of look-ups depends only on the query,
    -- so a memory with many names costs nothing. No name begins or ends with a stop word, except a longer one (The Who).
    select array_agg(mention), array_agg(name_key(mention)) into mentions, keys
    from (
        select distinct regexp_replace(array_to_string(words[place : place + more], ' '),
            '^["''“‘«(\[{¿¡]+|(?:[''’]s?)?["''”’»)\]}.,;:!?…]*$', '', 'g') as mention
        from generate_subscripts(words, 1) place, generate_series(0, 3) more
        where content[place + more] and (content[place] or more > 0)
        offset 0) said
    where char_length(mention) > 2 or mention ~ '[+#]' or octet_length(mention) > char_length(mention);
    known := array(
        select e.name_key from entity e where e.space_id = any(scope) and e.name_key = any(keys)
        union all
        select a.name_key from entity_alias a where a.space_id = any(scope) and a.name_key = any(keys) and a.removed_at is null);
    if known <> '{}' then
        return query
            select s.mention from unnest(mentions, keys) s (mention, key) where key = any(known)
            order by char_length(s.mention) desc, s.mention;
    end if;
end
$$;

comment on function textrawl.named_entities is
    'The names and aliases of entities that a query contains, as the query writes them, the longest first. A name of one '
    'or two letters counts only with a sign (C#). Errors: TR010, TR011 (access). '
    'Example: select mention from textrawl.named_entities(''What does Jeff use?'');';
