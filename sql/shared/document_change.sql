create function textrawl.document_change(space integer, anchor text, evidence text) returns text
language sql stable
begin atomic
    select concat(d.path, ': source changed ', d.version)
    from textrawl.document d
    left join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where d.space_id = space and d.id = split_part(anchor, ' ', 2)::uuid and d.version::text <> split_part(anchor, ' ', 3)
      and coalesce(strpos(v.content, evidence), 0) = 0
      -- The evidence has no line breaks. This takes a fifth of the time that '\s+' takes.
      and coalesce(strpos(regexp_replace(v.content, '[^\S ]\s*| \s+', ' ', 'g'), evidence), 0) = 0;
end;

comment on function textrawl.document_change is
    'What became of the document from which an LLM took a fact, such as daily/2026-05-12/laptop: source changed 7, with its '
    'version now. The anchor names the version that the LLM read. Null: it still has the sentence, or nobody knows the document.';
