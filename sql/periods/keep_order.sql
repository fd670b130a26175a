create function textrawl.keep_order(
    fact textrawl.new_fact, begin_of_former timestamptz, former_created_at timestamptz
) returns textrawl.new_fact
language plpgsql stable
set search_path from current
as $$
begin
    if fact.period not like '/%' and begins_before(fact.valid_from, begin_of_former, former_created_at) then
        fact.valid_from := null;
        fact.period := nullif('/' || split_part(fact.period, '/', 2), '/');
    end if;
    if fact.period not like '%/' and coalesce(fact.valid_from, fact.said_at, clock_timestamp()) >= fact.valid_until then
        fact.valid_until := null;
        fact.period := nullif(split_part(fact.period, '/', 1) || '/', '/');
    end if;
    return fact;
end
$$;

comment on function textrawl.keep_order is
    'A fact that replaces another fact, without a begin or an end that was read from its text, if it would then not begin '
    'after that fact. Only the caller can say that it begins earlier.';
