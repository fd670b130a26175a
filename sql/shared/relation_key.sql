create function textrawl.relation_key(relation text) returns text
language sql immutable strict parallel safe
begin atomic
    -- Split camel case before the case is folded: afterwards worksAt would be one word. The column has 100 characters.
    select left(coalesce(nullif(replace(textrawl.name_key(words), ' ', '_'), ''), label), 100)
    from textrawl.relation_label(relation) as label,
        regexp_replace(
            case when label ~ '[a-z][A-Z]'
                then regexp_replace(regexp_replace(label, '([a-z])([A-Z])', '\1 \2', 'g'), '([A-Z])([A-Z][a-z])', '\1 \2', 'g')
                else label end,
            '(?:->|[-_→\\\u2010-\u2013])+', ' ', 'g') as words;
end;

comment on function textrawl.relation_key is
    'The form in which relation types are compared: worksAt, works_at, works-at and Works At are one type. '
    'Example: select textrawl.relation_key(''Works at'');';
