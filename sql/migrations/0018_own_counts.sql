-- What search counts is counted space by space: nothing of one shows in the scores of another.

drop table lexeme;
create table lexeme (
    space_id  integer not null references space on delete cascade,
    word      text not null,
    frequency integer not null check (frequency > 0),
    primary key (space_id, word)
);
comment on table lexeme is 'In how many facts of a space a word stands: approximate, from the last refresh_search_statistics().';
comment on column lexeme.space_id is 'The space whose facts are counted.';
comment on column lexeme.word is 'A stem, as the text index has it.';
comment on column lexeme.frequency is 'Facts of the space that have it.';
-- Whoever reads many spaces asks for one word in all of them.
create index lexeme_word_idx on lexeme (word, space_id) include (frequency);
-- Words are counted anew with the next refresh.
delete from search_statistics;
delete from space_statistics;

alter table observation alter column ordinal drop identity;
comment on column observation.ordinal is 'Counts facts of the space in the order of storing; facts stored at once by two writers may share numbers. Search takes those next to each other for parts of one conversation.';
drop index observation_ordinal_idx;
update observation o set ordinal = counted.place
from (select space_id, id, row_number() over (partition by space_id order by ordinal, id) as place from observation) counted
where o.space_id = counted.space_id and o.id = counted.id and o.ordinal <> counted.place
  -- In the only space that has facts they are next to each other already.
  and (select min(space_id) <> max(space_id) from observation);
create index observation_ordinal_idx on observation (space_id, ordinal);

-- Triggers and what they call belong to the table: functions of sql/ are made anew with every change.
create function number_fact() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- Without a lock: two writers at once may take the same number, which only makes them neighbours.
    new.ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = new.space_id), 0) + 1;
    return new;
end
$$;

comment on function number_fact is 'Gives a fact the next number of its space.';

create trigger fact_is_numbered before insert on observation
for each row when (new.ordinal is null) execute function number_fact();
