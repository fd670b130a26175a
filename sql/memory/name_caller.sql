create function textrawl.name_caller(
    query text, languages text[], spaces integer[], credential bytea,
    out question text,          -- the query with these names in place of I, my and such words
    out names text[],           -- null: the query has no such word, or the caller is no entity
    out alone boolean           -- true: the query asks for nothing else, such as "what do you know about me"
)
language plpgsql stable parallel safe
set search_path from current
as $$
declare
    about_memory constant text := '\m(?:know|knows|known|remember|remembered|recall|tell|told|say|said|everything|anything|something|list|show|facts?'
        '|weißt|weisst|wisst|wissen|kennst|erinnerst|erzähl|erzähle|sag|sage|gesagt|alles|etwas'
        '|sais|savez|connais|souviens|dis|dit|tout|sabes|sabe|conoces|recuerdas|dime|dicho|todo|algo)\M';
    known   text[];  -- the names of the caller
    pattern text;
    others  text;  -- the query without such words and without words about the memory
begin
    question := query;
    -- Look for an own entity first: most memories have none, and the regular expression takes longer.
    if exists (select from own_entity o where o.space_id = any(spaces)) then
        known := array(
            select distinct e.name
            from access_rights(credential) r
            join own_entity o on o.space_id = r.space_id
                and o.actor_id = coalesce(r.actor_id, (select a.id from actor a where a.name = session_user))
            -- The alias that a merge made has the id of the merged entity.
            left join entity_alias a on a.space_id = o.space_id and a.id = o.entity_id
            join entity e on e.space_id = o.space_id and e.id = coalesce(a.entity_id, o.entity_id)
            where o.space_id = any(spaces) order by 1);
    end if;
    if known <> '{}' then
        pattern := first_person(languages);
        -- If the query has the name Jeff, the name means Jeff, so the word I does not stand for him.
        if query ~ pattern and not exists (select from unnest(known) name where names_entity(query, name)) then
            names := known;
            question := array_to_string(names, ' ');
            others := regexp_replace(regexp_replace(query, pattern, ' ', 'g'), about_memory, ' ', 'gi');
            alone := exists (select from unnest(array['english', 'german', 'french', 'spanish']) l
                             where to_tsvector(l::regconfig, others) = '');
            if not alone then
                question := regexp_replace(query, pattern, replace(question, '\', '\\') || ' ', 'g');
            end if;
        end if;
    end if;
end
$$;

comment on function textrawl.name_caller is
    'A query with the name of the caller''s own entity, see set_own_entity(), in place of the words that mean the caller. '
    'Example: select question from textrawl.name_caller(''where do I live'', array[''english''], array[1], null);';
