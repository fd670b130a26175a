create function textrawl.sole_topic(content text) returns text
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    marks constant jsonb := textrawl.sole_words();
    words text[] := array_remove(string_to_array(rtrim(left(content, 240), ' .'), ' '), '');
    first integer := case when words[1] ~ '^[0-9]+[.)]$' then 2 else 1 end;  -- a number of a list is no part of the sentence
    spelt text[];
    found jsonb;
    named boolean;
begin
    if cardinality(words) - first not between 1 and 24 then
        return null;
    end if;
    spelt := string_to_array(lower(array_to_string(words, ' ')), ' ');
    if marks -> 'open' ?| spelt then
        return null;
    end if;
    -- A value has at most eight words.
    for place in reverse cardinality(words) - 1 .. greatest(first, cardinality(words) - 8) loop
        found := marks -> 'before' -> spelt[place];
        continue when found is null;
        named := words[place + 1] ~ '^["“«„]?[[:upper:][:digit:]]';
        if exists (
                select from jsonb_array_elements_text(found -> 'after') phrase
                where right(' ' || array_to_string(spelt[first:place - 1], ' '), char_length(phrase) + 1) = ' ' || phrase
                  and (named or phrase like '% %'))
           or place > first + 2 and (named or marks -> 'kinds' ? spelt[first + 1])
              and (found -> 'the' ? spelt[first] or found -> 'the' ? left(spelt[first], 2)) then
            -- Who was born in 1990 was born in Rome, too.
            return array_to_string(spelt[first:place], ' ') || case when words[place + 1] ~ '^[0-9]' then ' #' else '' end;
        end if;
    end loop;
    return null;
end
$$;

comment on function textrawl.sole_topic is
    'The begin of a sentence that has one true end at a time: the capital of France is, Kim is married to. A fact that says '
    'the same with another end has a newer value: see end_former_facts(). Null: the sentence can have several ends, such as uses Redis. '
    'Example: select textrawl.sole_topic(''The capital of France is Paris.'');';
