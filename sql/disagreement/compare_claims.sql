create function textrawl.compare_claims(one jsonb, other jsonb) returns text
language plpgsql immutable strict parallel safe
set search_path from current
as $$
declare
    a     record;
    b     record;
    main  text[];
    mine  text[];
    yours text[];
    found text;
begin
    if one ->> 'predicate' <> other ->> 'predicate' then
        return null;
    end if;
    a := claim_parts(one);
    b := claim_parts(other);
    if a.items = '{}' and b.items = '{}' and a.predicate in ('', 'be', 'has')
       or a.past <> b.past and a.predicate <> 'plan'
       or a.predicate = 'home' and (one -> 'ends' ? 'thing' or other -> 'ends' ? 'thing') then
        return null;
    end if;
    if a.predicate = 'lead' then
        return case when a.subject <> b.subject and a.subject <> '{}' and b.subject <> '{}'
                     and a.items = b.items and a.roles = b.roles and not a.negative and not b.negative then 'other value'
                    when a.negative <> b.negative and a.subject = b.subject and a.items = b.items then 'opposite' end;
    end if;
    if a.subject <> b.subject and not (a.subject = '{}' and b.named or b.subject = '{}' and a.named) then
        return null;
    end if;
    if a.negative <> b.negative then
        mine := case when a.negative then a.items else b.items end;
        yours := case when a.negative then b.items else a.items end;
        return case when mine <@ yours and not (mine = '{}' and a.predicate in ('', 'be', 'has')) then 'opposite' end;
    elsif a.negative then
        return null;
    end if;

    main := case
        when a.predicate in ('home', 'boss') then '{o,@at}'
        when a.predicate = 'work' then '{o,@at,@for}'
        when a.predicate = 'marriage' then '{o,@at,@with}'
        when a.predicate in ('name', 'cost', 'weigh', 'position') then '{o}'
        when a.predicate = 'plan' or a.predicate like 'when:%' then '{time}'
        when a.predicate in ('born', 'founded') then '{time,@at}'
        when a.predicate = 'attr' then '{o,@at,@on,time}'
        when a.predicate = 'prefer' then '{o,@at,@from,@over}'
        end;
    if a.past and a.predicate in ('home', 'work', 'boss', 'marriage', 'position') then
        return null;
    elsif main is null then
        -- With an ordinary verb, facts disagree if they differ only in one number. A noun with a number is a name.
        if a.event or b.event or a.past or a.predicate = 'like' or a.predicate = '' and cardinality(a.items) <= 2
           or a.items::text !~ '#' or b.items::text !~ '#' then
            return null;
        end if;
        return (
            select case when count(*) filter (where x.item is distinct from y.item) = 1
                         and bool_and(x.item like '#%' and y.item like '#%') filter (where x.item is distinct from y.item)
                         and bool_and(x.role is not distinct from y.role) then 'other value' end
            from (select item, role, row_number() over (order by n) as n from unnest(a.items, a.roles) with ordinality t (item, role, n)
                  where role not in ('@since', '@until', '@because')) x
            full join (select item, role, row_number() over (order by n) as n from unnest(b.items, b.roles) with ordinality t (item, role, n)
                  where role not in ('@since', '@until', '@because')) y using (n));
    end if;

    mine := array(select item from unnest(a.items, a.roles) t (item, role) where role = any(main));
    yours := array(select item from unnest(b.items, b.roles) t (item, role) where role = any(main));
    if a.predicate in ('cost', 'weigh') then
        mine := array(select item from unnest(mine) item where item like '#%');
        yours := array(select item from unnest(yours) item where item like '#%');
    elsif a.predicate = 'prefer' then
        found := case when mine <@ yours and yours <@ mine and mine <> yours then 'opposite' end;  -- tabs over spaces, spaces over tabs
        mine := array(select item from unnest(mine) item where item like '~%');
        yours := array(select item from unnest(yours) item where item like '~%');
        if found is null and split_part(mine[1], '~', 2) is distinct from split_part(yours[1], '~', 2) then
            return null;
        end if;
    elsif a.predicate in ('home', 'work') and (
            a.indefinite <> b.indefinite or a.indefinite and a.predicate = 'work' or (array_to_string(mine, ' ') ~ '#') <> (array_to_string(yours, ' ') ~ '#')) then
        return null;
    end if;
    -- Values of more than six words describe a thing instead of naming it, so they do not disagree.
    if cardinality(mine) between 1 and 6 and cardinality(yours) between 1 and 6 and not mine <@ yours and not yours <@ mine then
        found := coalesce(found, 'other value');
    end if;
    -- Facts about different occasions do not disagree: for members and for guests, on Mondays and on Fridays.
    if found is not null and exists (
        select from (
            select role, array_agg(item order by n) filter (where first) as left_items, array_agg(item order by n) filter (where not first) as right_items
            from (select item, role, n, true as first from unnest(a.items, a.roles) with ordinality t (item, role, n)
                  union all select item, role, n, false from unnest(b.items, b.roles) with ordinality t (item, role, n)) item
            where not role = any(main) and role not in ('@since', '@until', '@because', '@from', '@as', '@by')
            group by role) part
        where not (left_items <@ right_items or right_items <@ left_items)
           or num_nulls(left_items, right_items) = 1 and role <> 'time' and a.predicate in ('cost', 'attr', 'weigh', 'prefer')) then
        return null;
    end if;
    return found;
end
$$;

comment on function textrawl.compare_claims is
    'The comparison of disagreement() for two claims of make_claim(). '
    'Example: select textrawl.compare_claims(textrawl.make_claim(''lives in Berlin''), textrawl.make_claim(''lives in Rome''));';
