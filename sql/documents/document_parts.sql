create function textrawl.document_parts(kind text, content text, attributes jsonb) returns table (part integer, text text)
language plpgsql immutable parallel safe
set search_path from current
as $$
#variable_conflict use_column
begin
    if kind = 'source' then
        return query select p.part, p.text from source_parts(content, attributes) p;
    else
        return query select p.part, p.text from text_parts(content) p;
    end if;
end
$$;

comment on function textrawl.document_parts is
    'The parts of the text of a document: the chunks of a source, or the parts of a journal entry.';
