create function textrawl.replace_fact(
    space integer, replaced uuid, successor uuid,
    start timestamptz,           -- begin of the successor
    moment timestamptz,
    out changed boolean,         -- false if the fact already has this successor
    out valid_until timestamptz  -- the former end of the fact
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    former observation;
    ending timestamptz;
begin
    select * into former from observation o where o.space_id = space and o.id = replaced for no key update;
    valid_until := former.valid_until;
    -- A client that did not receive the answer repeats the call. The repeated call succeeds and changes nothing.
    changed := former.replaced_by is distinct from successor;
    if changed and not is_valid(null, former.valid_until, former.closed_at, present => moment) then
        raise exception using errcode = 'TR003', message = 'the fact is no longer valid';
    elsif changed then
        -- A successor that begins on the day of the fact corrects it. Then the fact was never valid.
        ending := least(greatest(start, former.valid_from), former.valid_until);
        update observation o
        set valid_until = ending, replaced_by = successor,
            closed_at = case when ending <= greatest(moment, clock_timestamp()) then ending else o.closed_at end
        where o.space_id = space and o.id = replaced;
    end if;
end
$$;

comment on function textrawl.replace_fact is
    'End a fact when its successor begins, and point it to its successor. A search with as_of before that time still '
    'finds the fact. Error TR003: the fact had already ended.';
