create function textrawl.check_source(path text, label text, content text, chunks jsonb, sha256 text) returns void
language plpgsql immutable parallel safe
set search_path from current
as $$
begin
    if coalesce(char_length(content), 0) not between 1 and 5000000 then
        raise exception using errcode = 'TR064', message = 'the text has a wrong length',
            detail = coalesce(char_length(content), 0);
    elsif coalesce(path ~ '^(file|clip|import)/.' and char_length(path) <= 300 and char_length(label) between 1 and 200
                   and sha256 ~ '^[0-9a-f]{64}$', false) is false
        or jsonb_typeof(chunks) is distinct from 'array' or jsonb_array_length(chunks) not between 1 and 32767
        or exists (
            select from jsonb_array_elements(chunks) c
            where jsonb_typeof(c) <> 'array' or jsonb_array_length(c) <> 4
               or (c ->> 0)::integer not between 1 and 32767 or (c ->> 1)::integer < 0 or (c ->> 3)::integer < 0
               or (c ->> 2)::integer not between 1 and 8000
               or (c ->> 1)::integer + (c ->> 2)::integer > char_length(content))
        or (select count(distinct c ->> 0) from jsonb_array_elements(chunks) c) < jsonb_array_length(chunks) then
        raise exception using errcode = 'TR065', message = 'the source has a wrong form';
    end if;
end
$$;

comment on function textrawl.check_source is
    'Check a source: 1 to 5,000,000 characters, a path and a label, and chunks [part, start, length, tokens] with '
    'different numbers that lie in the text and have 1 to 8,000 characters. Errors: TR064 (wrong length), TR065 (anything '
    'else).';
