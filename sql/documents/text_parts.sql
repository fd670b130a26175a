create function textrawl.text_parts(content text, most integer default 2000) returns table (part integer, text text)
language plpgsql immutable parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    rest  text := content;
    piece text;
begin
    part := 0;
    while rest <> '' loop
        piece := left(rest, most);
        if char_length(rest) > most then
            -- Prefer the end of a paragraph, then of a line, of a sentence, of a word. Do not cut in the
            -- first quarter.
            piece := coalesce(
                (select found[1] from unnest(array['\n\s*\n', '\n', '[.!?…。！？]\s*', '\s+']) with ordinality b (pattern, rank)
                 cross join lateral regexp_match(piece, '^(.*' || b.pattern || ')') found
                 where char_length(found[1]) >= most / 4 order by b.rank limit 1),
                piece);
        end if;
        rest := substr(rest, char_length(piece) + 1);
        if btrim(piece, E' \t\r\n') <> '' then
            part := part + 1;
            text := piece;
            return next;
        end if;
    end loop;
end
$$;

comment on function textrawl.text_parts is
    'Split a text into parts of at most `most` characters, at the ends of paragraphs, lines, sentences or words. '
    'Parts with nothing but white space are left out. '
    'Example: select part, text from textrawl.text_parts(''One. Two.'', 6);';
