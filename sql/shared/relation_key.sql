create function textrawl.relation_key(relation text) returns text
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    label text;
    words text;
begin
    -- Return a key unchanged. Most calls end here, because stored types are keys. The column has 100 characters.
    if relation ~ '^[a-z0-9]+(_[a-z0-9]+)*$' then
        return left(relation, 100);
    end if;
    label := textrawl.relation_label(relation);
    words := label;
    -- Split camel case before the case is folded: afterwards worksAt would be one word.
    if label ~ '[a-z][A-Z]' then
        words := regexp_replace(regexp_replace(label, '([a-z])([A-Z])', '\1 \2', 'g'), '([A-Z])([A-Z][a-z])', '\1 \2', 'g');
    end if;
    words := regexp_replace(words, '(?:->|[-_→\\\u2010-\u2013])+', ' ', 'g');
    return left(coalesce(nullif(replace(textrawl.name_key(words), ' ', '_'), ''), label), 100);
end
$$;

comment on function textrawl.relation_key is
    'The form in which relation types are compared: worksAt, works_at, works-at and Works At are one type. '
    'Example: select textrawl.relation_key(''Works at'');';
