create function textrawl.person_pattern(names text[]) returns text
language sql immutable parallel safe
begin atomic
    -- Any separators stand between the words of a name: ada-king.md and ada_king name Ada King. Scripts without spaces
    -- have no whole words, so such a name matches anywhere. A name of one or two letters (A, me) is mostly an ordinary word.
    select string_agg(case when n.unspaced then n.words
                           else '(^|[^[:alnum:]])' || n.words || '($|[^[:alnum:]])' end, '|' order by n.key)
    from (select distinct k.key, regexp_replace(btrim(regexp_replace(k.key, '[^[:alnum:]]+', ' ', 'g')), ' ', '[^[:alnum:]]+', 'g') as words,
              k.key ~ '[\u0e00-\u0eff\u2e80-\ud7ff\uf900-\ufaff]' as unspaced
          from unnest(names) name cross join lateral (select textrawl.name_key(name) as key) k) n
    where (n.unspaced or char_length(n.key) >= 3) and n.words <> '';
end;

comment on function textrawl.person_pattern is
    'A regular expression for the names of a person as whole words, in the form of name_key(). Null if no name is long enough.';
