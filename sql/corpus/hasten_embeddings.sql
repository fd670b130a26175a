create function textrawl.hasten_embeddings(
    graph text, model integer,
    credential bytea default null
) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
declare
    home     integer := (open_graph(credential, graph, 'write', null, 'sql', null)).space_id;
    hastened integer;
begin
    update embedding_pending p set next_attempt = now()
    from (
        -- Skip rows that another session has locked, because that session is forgetting or embedding the chunks.
        select claimed.observation_id
        from chunk c join embedding_pending claimed on claimed.space_id = c.space_id and claimed.observation_id = c.observation_id
        where c.space_id = home and claimed.model_id = hasten_embeddings.model and claimed.next_attempt > now()
        for update of claimed skip locked) unlocked
    where p.space_id = home and p.observation_id = unlocked.observation_id and p.model_id = hasten_embeddings.model;
    get diagnostics hastened = row_count;
    return hastened;
end
$$;

comment on function textrawl.hasten_embeddings is
    'Make all chunks of a graph that wait for a vector due now, also chunks that a process claimed before it was killed. '
    'Return the number of these chunks. Errors: TR010, TR011 (access), TR063 (no such graph).';
