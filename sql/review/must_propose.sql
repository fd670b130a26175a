create function textrawl.must_propose(origin textrawl.origin, sources text[]) returns boolean
language sql stable
begin atomic
    select origin.proposed or (
        'external' = any(array(select textrawl.find_origin(null, origin.tool, origin.client, given.source) from unnest(sources) given (source)))
        and exists (select from textrawl.space s where s.id = origin.space_id and s.external_reviewed));
end;

comment on function textrawl.must_propose is
    'True if a call with facts of these sources makes proposals: its caller can only propose, or one of the facts is external and '
    'the space reviews external facts.';
