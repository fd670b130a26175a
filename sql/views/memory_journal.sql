create view textrawl.memory_journal with (security_invoker) as
select s.name as space, j.granularity, j.date, lower(j.period) as first_day, upper(j.period) - 1 as last_day, j.slug, j.instance,
    j.content, j.number as version, j.created_at, j.modified_at, j.modified_by, j.path, j.document_id
from textrawl.space s cross join lateral textrawl.journal_entries(s.id) j;

comment on view textrawl.memory_journal is 'Journal entries with their current texts. '
    'Example: select first_day, content from textrawl.memory_journal where granularity = ''daily'' order by first_day desc limit 7;';
comment on column textrawl.memory_journal.space is 'Name of the space.';
comment on column textrawl.memory_journal.granularity is 'daily, weekly, monthly, yearly or significant.';
comment on column textrawl.memory_journal.date is 'The period as a text: 2026-05-12, 2026-W19, 2026-05 or 2026.';
comment on column textrawl.memory_journal.first_day is 'First day of the period.';
comment on column textrawl.memory_journal.last_day is 'Last day of the period.';
comment on column textrawl.memory_journal.slug is 'Short name of a significant entry. Null: the entry has no slug.';
comment on column textrawl.memory_journal.instance is 'Instance that wrote the text first.';
comment on column textrawl.memory_journal.content is 'Text of the entry.';
comment on column textrawl.memory_journal.version is 'Number of the current version.';
comment on column textrawl.memory_journal.created_at is 'When the entry was first stored.';
comment on column textrawl.memory_journal.modified_at is 'When the text was last changed.';
comment on column textrawl.memory_journal.modified_by is 'Instance or person who last changed the text.';
comment on column textrawl.memory_journal.path is 'Key of the entry.';
comment on column textrawl.memory_journal.document_id is 'Id of the document. The parts of the text have it in the column whole.';
