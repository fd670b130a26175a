create function textrawl.require_keep(keep text, names text[]) returns void
language plpgsql stable
set search_path from current
as $$
declare
    refused text[] := array(select coalesce(n, '') from unnest(names) n where n is null or person_pattern(array[n]) is null);
begin
    if refused <> '{}' then
        raise exception using errcode = 'TR120', message = 'a name needs three letters', detail = refused[1];
    elsif not coalesce(keep in ('others', 'own'), true) then
        raise exception using errcode = 'TR121', message = 'keep is others or own', detail = keep;
    end if;
end
$$;

comment on function textrawl.require_keep is
    'Raise TR120 if a name of a person is too short to be found in texts, or TR121 if `keep` is not known.';
