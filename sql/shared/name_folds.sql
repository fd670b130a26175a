create function textrawl.name_folds(key text) returns text[]
language sql immutable strict parallel safe
begin atomic
    -- In German and Nordic names one letter is written as two: Müller, Mueller and Muller. A blank between digits counts.
    select array_agg(regexp_replace(translate(form, '''"()!?,;', ''), '(?<!\d)\s+|\s+(?!\d)', '', 'g'))
    from (select textrawl.plain_text(key) as plain, textrawl.plain_text(textrawl.spell_umlauts(key)) as spelled) of_name
    cross join lateral unnest(array[plain, spelled, regexp_replace(plain, '([ou])e(?=[b-df-hj-np-tv-z])', '\1', 'g')]) form;
end;

comment on function textrawl.name_folds is
    'The forms of a name_key() without accents, blanks and signs. Two names that have one in common are likely to be the same name. '
    'Example: select textrawl.name_folds(''müller'') && textrawl.name_folds(''mueller'');';
