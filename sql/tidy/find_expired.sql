create function textrawl.find_expired(space integer, max_rows integer default 200)
returns table (id uuid, until timestamptz)
language plpgsql stable
set search_path from current
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    select o.id, named.until
    from fact o
    join space s on s.id = o.space_id
    cross join lateral (select named_end(o.content, s.language) as until offset 0) named
    where o.space_id = find_expired.space and o.whole is null and o.valid_until is null
      -- Reading a claim takes long, so read only texts with one of the words and a year.
      and o.content ~ '\m(19|20)[0-9]{2}' and char_length(o.content) <= 240
      and o.content ~* '\m(until|till|bis|jusqu|hasta|ends|expires|runs|endet|läuft|finit|expire|termina|vence)'
      and named.until < statement_timestamp()
      -- What was said after its end is history, and true.
      and named.until > greatest(o.said_at, o.valid_from)
      and not exists (select from dismissal d where d.space_id = o.space_id and d.kind = 'stale' and d.one = o.id and d.other = o.id)
    order by named.until, o.id limit max_rows;
end
$$;

comment on function textrawl.find_expired is
    'Valid facts of a space that have ended by their own words: see named_end(). '
    'Example: select * from textrawl.find_expired(1);';
