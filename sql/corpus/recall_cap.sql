create function textrawl.recall_cap(tier text, recall_tokens integer) returns integer
language sql immutable parallel safe
begin atomic
    select case tier when 'public' then coalesce(recall_tokens, 4000) when 'personal' then coalesce(recall_tokens, 2000)
        else 0 end;
end;

comment on function textrawl.recall_cap is
    'The largest number of tokens of a graph in one answer: by default 4,000 for a public and 2,000 for a personal '
    'graph, always 0 for a sensitive one. '
    'Example: select textrawl.recall_cap(''personal'', null);';
