-- The text of a fact can name the period in which the fact holds: see read_period().
alter type new_fact add attribute period text;
comment on column new_fact.period is 'The begin and the end that were read from the text, such as 2016/2021-03 or 2019/. Null: none. Then valid_from and valid_until are what the caller gave.';

alter table observation add column period text;
comment on column observation.period is 'The begin and the end that the text names, such as 2016/2021-03 or 2019/, if they are the times of the fact. Null: the text names none, or the fact is older than 0033.';

create function read_told_period() returns trigger
language plpgsql
set search_path from current
as $$
begin
    new.period := (
        select concat_ws('/', coalesce(p.starts, ''), p.ends)
        from read_period(new.content, new.said_at, space_language(new.space_id)::text) p where p.valid_until = new.valid_until);
    return new;
end
$$;
comment on function read_told_period is 'Find out whether the text of a fact that comes from a file says itself that it is over.';

create trigger fact_is_told before insert on observation
for each row when (new.valid_until < new.created_at and new.period is null and new.whole is null and new.relation_id is null)
execute function read_told_period();
