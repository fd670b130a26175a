create function textrawl.neighbour_share(words integer) returns double precision
language sql immutable parallel safe
begin atomic
    select least(1, 15.0::float8 / words);
end;

comment on function textrawl.neighbour_share is
    'The factor by which search multiplies the weight of a neighbour''s words, depending on the number of distinct '
    'words of the neighbour: 1 for up to 15 words, 0.5 for 30 words. '
    'Example: select textrawl.neighbour_share(30);';
