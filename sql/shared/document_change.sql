create function textrawl.document_change(space integer, anchor text, evidence text) returns text
language sql stable
begin atomic
    select d.path || ': source changed'
    from textrawl.document d
    left join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where d.space_id = space and d.id = split_part(anchor, ' ', 2)::uuid and d.version::text <> split_part(anchor, ' ', 3)
      -- The evidence has no line breaks.
      and coalesce(strpos(regexp_replace(v.content, '\s+', ' ', 'g'), evidence), 0) = 0;
end;

comment on function textrawl.document_change is
    'What became of the document from which an LLM took a fact, such as daily/2026-05-12/laptop: source changed. The anchor '
    'names the version that the LLM read. Null: it still has the sentence, or nobody knows the document.';
