create function textrawl.propose_one(
    facts jsonb, relations jsonb, model integer, vector halfvec, origin textrawl.origin, reading boolean,
    out proposal_id uuid, out duplicate boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    refusal text;
begin
    select p.proposals[1], p.repeated[1] into proposal_id, duplicate
    from propose_all(facts, relations, model, array[vector], array[vector], origin, reading) p;
exception when sqlstate 'TR006' then
    get stacked diagnostics refusal = pg_exception_detail;
    raise exception using errcode = refusal::jsonb -> 0 ->> 'code', message = 'the proposal is refused';
end
$$;

comment on function textrawl.propose_one is
    'Store one fact or one relation as a proposal. Errors: TR001 or TR002 ("replaces" matches no fact, or several '
    'facts), TR003 (the fact to replace is no longer valid).';
