create function textrawl.split_ideographs(input text) returns text
language sql immutable strict parallel safe
begin atomic
    -- Chinese, Japanese and Korean texts do not separate all words by spaces. Pairs of neighbouring characters find
    -- most words. A text with kana counts as Japanese. In Japanese, both characters of a pair are of the same script,
    -- because a kanji with a kana after it is mostly a word with a particle or an ending. Each kanji is also a word of
    -- its own, because many words have only one kanji (猫が, 飼った). A single hiragana is left out, because it is a
    -- particle.
    select case when input !~ '[\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' then input
    else (
        select coalesce(string_agg(case when ideographs then (
                select coalesce(
                    string_agg(pair, ' ' order by n) filter (where char_length(pair) = 2),
                    case when run !~ '[\u3041-\u309f]' or not japanese then run end)
                from (select n, letter || lead(letter, 1, '') over (order by n) as pair
                      from unnest(string_to_array(run, null)) with ordinality as letters (letter, n)) as pairs)
                || case when japanese and run ~ '^[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{2,}$'
                    then ' ' || array_to_string(string_to_array(run, null), ' ') else '' end
            else run end, ' ' order by position), input)
        from (select position, match[1] as run, match[1] ~ '^[\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' as ideographs, japanese
              from (select input ~ '[\u3041-\u30ff]' as japanese) as script,
                   regexp_matches(input, case when japanese
                       then '[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[\u3041-\u309f]+|[\u30a0-\u30fa\u30fc-\u30ff]+|[\u1100-\u11ff\uac00-\ud7af]+|[^\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+'
                       else '[\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+|[^\u1100-\u11ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+' end, 'g')
                   with ordinality as matches (match, position)) as runs)
    end;
end;

comment on function textrawl.split_ideographs is
    'Split runs of Chinese, Japanese or Korean characters into overlapping pairs, and for Japanese also into single kanji. '
    'Example: select textrawl.split_ideographs(''东京大学'');';
