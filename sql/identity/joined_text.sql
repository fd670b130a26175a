create function textrawl.joined_text(text text, addition text, placement text) returns text
language sql immutable parallel safe
begin atomic
    select case
        when btrim(coalesce(text, ''), E' \t\r\n') = '' then added
        when placement = 'append' then
            rtrim(text, E' \t\r\n') || line_end || line_end || added || case when right(text, 1) = E'\n' then line_end else '' end
        else added || line_end || line_end || ltrim(text, E'\r\n')
    end
    from (select btrim(addition, E' \t\r\n') as added, case when strpos(text, E'\r\n') > 0 then E'\r\n' else E'\n' end as line_end) a;
end;

comment on function textrawl.joined_text is
    'A text with an addition at its end (append) or its beginning (prepend), with one blank line between them. '
    'Example: select textrawl.joined_text(''one'', ''two'', ''append'');';
