create function textrawl.delay_extraction(
    space integer, document uuid, version bigint, error text,
    give_up boolean default false,   -- true: take the entry out of the queue
    answered boolean default true    -- false: the LLM gave no answer, so this is not an attempt of the entry
) returns boolean
language sql volatile security definer
set search_path from current
begin atomic
    delete from textrawl.extraction_pending p
    where give_up and p.space_id = space and p.document_id = document and p.version = delay_extraction.version;
    update textrawl.extraction_pending p
    set next_attempt = now() + least(interval '1 hour', interval '30 seconds' * 2 ^ least(p.attempts, 10)),
        attempts = p.attempts - case when answered or p.attempts = 0 then 0 else 1 end
    where p.space_id = space and p.document_id = document and p.version = delay_extraction.version;
    insert into textrawl.extraction_total as t (space_id, attempts, last_attempt, last_error)
    select s.id, 1, clock_timestamp(), left(delay_extraction.error, 500) from textrawl.space s where s.id = space
    on conflict (space_id) do update
    set attempts = t.attempts + 1, last_attempt = excluded.last_attempt, last_error = excluded.last_error
    returning true;
end;

comment on function textrawl.delay_extraction is
    'Record that an extraction failed. A server tries the entry again later. The wait doubles with each attempt that the '
    'LLM answered, up to an hour.';
