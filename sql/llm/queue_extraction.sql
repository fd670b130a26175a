create function textrawl.queue_extraction(space integer, document uuid, version bigint, content text) returns void
language sql volatile
begin atomic
    -- A text of less than 100 characters says too little. Then also remove the former text of the entry from the queue.
    delete from textrawl.extraction_pending p
    where p.space_id = space and p.document_id = document and char_length(content) < 100;
    insert into textrawl.extraction_pending as p (space_id, document_id, version)
    select space, document, version where char_length(content) >= 100
    on conflict (space_id, document_id) do update
    set version = excluded.version, attempts = 0, next_attempt = least(p.next_attempt, excluded.next_attempt);
end;

comment on function textrawl.queue_extraction is
    'Queue a journal entry of at least 100 characters for extraction, in the transaction of its write.';
