create function textrawl.spell_umlauts(key text) returns text
language sql immutable strict parallel safe
begin atomic
    select replace(replace(replace(replace(replace(key, 'ä', 'ae'), 'ö', 'oe'), 'ü', 'ue'), 'ø', 'oe'), 'å', 'aa');
end;

comment on function textrawl.spell_umlauts is
    'A name_key() with two letters for each umlaut. Example: select textrawl.spell_umlauts(''müller'');';
