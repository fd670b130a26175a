create function textrawl.length_divisor(words integer) returns double precision
language sql immutable parallel safe
begin atomic
    -- Without this divisor, a text of 2,000 characters would rank first for most queries, because such a text contains
    -- some words of almost any query.
    select sqrt(greatest(1, words / 40.0::float8));
end;

comment on function textrawl.length_divisor is
    'The number by which search divides the coverage of a fact, depending on the number of distinct words of the fact: '
    '1 for up to 40 words, 2 for 160 words. '
    'Example: select textrawl.length_divisor(160);';
