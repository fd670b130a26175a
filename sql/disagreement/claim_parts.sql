create function textrawl.claim_parts(
    claim jsonb,
    out language text, out subject text[], out named boolean, out predicate text, out negative boolean,
    out past boolean, out event boolean, out indefinite boolean, out roles text[], out items text[]
)
language sql immutable parallel safe
begin atomic
    select c.language, coalesce(c.subject, '{}'), coalesce(c.named, false), c.predicate, coalesce(c.negative, false),
        coalesce(c.past, false), coalesce(c.event, false), coalesce(c.indefinite, false), c.roles, c.items
    from jsonb_to_record(claim) c (
        language text, subject text[], named boolean, predicate text, negative boolean, past boolean, event boolean,
        indefinite boolean, roles text[], items text[]);
end;

comment on function textrawl.claim_parts is
    'The parts of a claim, as read_claim() returns them. '
    'Example: select * from textrawl.claim_parts(textrawl.make_claim(''lives in Berlin''));';
