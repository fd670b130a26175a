create function textrawl.proposal_text(content text, relation_type text, to_name text) returns text
language sql immutable parallel safe
begin atomic
    select coalesce(content, textrawl.statement_text(relation_type, to_name));
end;

comment on function textrawl.proposal_text is
    'The text of a proposal: the fact, or the words of the relation. '
    'Example: select textrawl.proposal_text(null, ''works_at'', ''Acme Corp'');';
