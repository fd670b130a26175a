create function textrawl.journal_key(
    granularity text, date text, instance text default null, slug text default null,
    out path text,   -- of the document
    out entity text, -- name of the entity whose facts are the parts of the entry
    out period daterange
)
language plpgsql immutable
set search_path from current
as $$
#variable_conflict use_variable
declare
    variant text := case granularity when 'daily' then instance when 'significant' then slug end;
begin
    period := journal_period(granularity, date);
    if granularity = 'daily' and instance is null then
        raise exception using errcode = 'TR056', message = 'the key is incomplete', detail = 'a daily entry needs an instance';
    elsif granularity <> 'significant' and slug is not null then
        raise exception using errcode = 'TR056', message = 'the key has a slug', detail = 'only a significant entry has a slug';
    elsif slug !~ '^[a-z0-9]+(-[a-z0-9]+)*$' or char_length(slug) > 100 then
        raise exception using errcode = 'TR056', message = 'the slug has another form',
            detail = format('%s is no slug', left(slug, 100));
    end if;
    path := concat_ws('/', granularity, date, variant);
    entity := concat_ws(' ', 'journal', date, variant);
end
$$;

comment on function textrawl.journal_key is
    'The path, the entity and the days of a journal entry. The key of a daily entry contains the instance. '
    'Significant entries of the same day have different slugs. Errors: TR056 (wrong key). '
    'Example: select path, entity from textrawl.journal_key(''daily'', ''2026-05-12'', ''laptop'');';
