create function textrawl.german_forms(stem text) returns text[]
language plpgsql immutable strict parallel safe
as $$
declare
    -- A separable prefix, with the ge that can follow it, as in eingekauft.
    prefix text := '^(ab|an|auf|aus|bei|dar|ein|fest|fort|her|hin|los|mit|nach|um|vor|weg|weiter|zu|zuruck|zusammen)(ge)?(?=.{3})';
    verb   text := stem;
begin
    if stem !~ '^[a-z]{3,}$' then
        return '{}';
    end if;
    -- Find the stem of the verb: kauf from kauft and gekauft, einkauf from eingekauft, arbeit from arbeitet, sammel
    -- from sammeln.
    if verb ~ '^ge.{3,}t$' then
        verb := substr(verb, 3);
    elsif verb ~ (prefix || '.*t$') and verb ~ '^[a-z]{2,8}ge' then
        verb := regexp_replace(verb, prefix, '\1');
    end if;
    verb := regexp_replace(verb, '(?<=..)e?t$|(?<=el)n$', '');
    return array(
        select distinct form
        from unnest(array[verb, stem]) root,
             unnest(array[
                root, root || 't', root || 'et', root || 'n', root || 'ert', regexp_replace(root, 'er$', ''),
                'ge' || root || 't', 'ge' || root || 'et', 'ge' || root || 'ert',
                regexp_replace(root, prefix, '\1ge') || 't',
                -- A main clause separates the prefix: stürzt ab.
                regexp_replace(root, prefix, ''), regexp_replace(root, prefix, '') || 't']) form
        where form <> stem order by form);
end
$$;

comment on function textrawl.german_forms is
    'Other stems that forms of the same regular German verb can have. The stemmer gives kaufen, kauft and gekauft '
    'three different stems. Most of the results are not German words, and they match nothing. '
    'Example: select textrawl.german_forms(''gekauft'');';
