create function textrawl.claim_marks(language text) returns text[]
language sql immutable strict parallel safe
begin atomic
    -- A gap (gave … back) stands for up to six words. The texts that these expressions read have no accents.
    select array_agg('\m(' || replace(replace(words, ';', '|'), ' … ', ' (?:\S+ ){0,6}') || ')\M' order by place)
    from (values (1, '{ends,back,over,now,lent}'::text[]), (2, '{ends,back}'), (3, '{over}'), (4, '{now}'), (5, '{also}'), (6, '{lent}'),
              (7, '{the}'), (8, '{idle}'), (9, '{back}')) mark (place, kinds)
    cross join lateral (
        select string_agg(textrawl.claim_lists(claim_marks.language) ->> kind, ';') as words from unnest(kinds) kind) list;
end;

comment on function textrawl.claim_marks is
    'The regular expressions of a language by which read_ending() finds what ends a fact. 1: any of the following. 2: words '
    'that end or give back (sold, quit, brought back). 3: words after which something may be over (found, retired). 4: a '
    'change (now, moved). 5: words that leave it open (also, perhaps). 6: what is to be given back (lent, rents). 7: words '
    'for a known thing (the, his). 8: words that say only when or how. 9: words that give back. Example: select textrawl.claim_marks(''english'');';
