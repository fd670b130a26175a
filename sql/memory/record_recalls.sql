create function textrawl.record_recalls(recalls jsonb) returns integer
language sql volatile security definer
set search_path from current
begin atomic
    insert into textrawl.recall (space_id, at, client, mode, format, structured, tokens, budget, items, dropped)
    select coalesce(given.space, textrawl.default_space()), given.at, given.client, given.mode, given.format, given.structured, given.tokens, given.budget, given.items, given.dropped
    from jsonb_to_recordset(recalls) as given(space integer, at timestamptz, client text, mode text, format text, structured boolean,
                                              tokens integer, budget integer, items integer, dropped integer);
    delete from textrawl.recall r
    using (select distinct coalesce((value ->> 'space')::integer, textrawl.default_space()) as space from jsonb_array_elements(recalls)) given
    where r.space_id = given.space and r.id <= (
        select old.id from textrawl.recall old where old.space_id = given.space order by old.id desc offset 10000 limit 1);
    select jsonb_array_length(recalls);
end;

comment on function textrawl.record_recalls is
    'Notes what recalls cost and drops all but the newest 10,000 of each space; called by servers every few seconds. Returns how many were given.';
