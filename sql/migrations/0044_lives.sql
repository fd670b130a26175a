alter table space_statistics add column lives jsonb;
comment on column space_statistics.lives is 'Days that states of a kind usually hold, as in {"work": 900}: the median of each state_kind() with at least five replaced facts. Answers show the day of older facts. Null: no kind has so many.';
