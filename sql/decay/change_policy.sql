create function textrawl.change_policy(name text, changes jsonb default '{}', reset boolean default false, credential bytea default null)
returns table (
    space text, policy jsonb,
    own text[]  -- names of the values that differ from the defaults because the space set them
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home    integer := find_space(change_policy.name);
    unknown text;
    kept    jsonb;
begin
    perform require_admin(credential, home);
    select key into unknown from jsonb_object_keys(changes) key
    where not to_jsonb(default_policy()) ? key or key = 'space_id' limit 1;
    if unknown is not null then
        raise exception using errcode = 'TR054', message = 'no such value of a policy', detail = unknown;
    end if;
    -- One model reads half_life_days, another reads lambda. Give lambda the same half-life.
    if changes ? 'half_life_days' and not changes ? 'lambda' then
        changes := changes || jsonb_build_object('lambda', ln(2) / ((changes ->> 'half_life_days')::double precision * 86400));
    end if;
    if reset then
        delete from decay_policy p where p.space_id = home;
    end if;
    if changes <> '{}' then
        select to_jsonb(p) into kept from decay_policy p where p.space_id = home for update;
        delete from decay_policy p where p.space_id = home;
        insert into decay_policy
        select (jsonb_populate_record(null::decay_policy, coalesce(kept, '{}') || changes || jsonb_build_object('space_id', home))).*;
        if (space_policy(home)).review_from >= (space_policy(home)).review_until then
            raise exception using errcode = 'TR054', message = 'an empty range', detail = 'review_from is not below review_until';
        end if;
    end if;
    return query
        select s.name, to_jsonb(space_policy(home)) - 'space_id',
            array(select k from jsonb_each(jsonb_strip_nulls(to_jsonb(p)) - 'space_id') as v(k) order by 1)
        from space s left join decay_policy p on p.space_id = s.id where s.id = home;
exception
    when check_violation or invalid_text_representation or numeric_value_out_of_range or division_by_zero then
        raise exception using errcode = 'TR054', message = 'not a value of a policy', detail = sqlerrm;
end
$$;

comment on function textrawl.change_policy is
    'Change how the memories of a space fade, and return its policy. Scores follow at once, because they are computed '
    'when they are read. For the owner and for the scope admin. Errors: TR010, TR011 (access), TR020 (no such space), '
    'TR054 (a wrong name or value). '
    'Example: select policy from textrawl.change_policy(name => ''default'', changes => ''{"half_life_days": 7}'');';
