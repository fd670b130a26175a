create function textrawl.split_ideographs(input text) returns text
language sql immutable strict parallel safe
begin atomic
    -- Chinese, Japanese and Korean have no spaces between words. Pairs of neighbours find most words.
    select case when input !~ '[\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' then input
    else (
        select string_agg(case when ideographs then (
                select coalesce(string_agg(pair, ' ' order by n) filter (where char_length(pair) = 2), run)
                from (select n, letter || lead(letter, 1, '') over (order by n) as pair
                      from unnest(string_to_array(run, null)) with ordinality as letters (letter, n)) as pairs)
            else run end, ' ' order by position)
        from (select position, match[1] as run, match[1] ~ '^[\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' as ideographs
              from regexp_matches(input, '[\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+|[^\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+', 'g')
                   with ordinality as matches (match, position)) as runs)
    end;
end;

comment on function textrawl.split_ideographs is
    'Split runs of Chinese, Japanese or Korean into overlapping pairs. '
    'Example: select textrawl.split_ideographs(''东京大学'');';
