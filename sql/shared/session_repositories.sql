create function textrawl.session_repositories(
    spaces integer[] default null,  -- null: all spaces
    question text default nullif(current_setting('textrawl.question', true), '')
) returns text[]
language plpgsql stable parallel safe
set search_path from current
as $$
declare
    setting text   := nullif(current_setting('textrawl.repository', true), '');
    own     text[];
    words   text;
begin
    if setting is null then
        return null;
    end if;
    own := array(select split_part(key, '#', 1) from string_to_table(setting, ' ') key);
    if question is null then
        return own;
    end if;
    words := ' ' || regexp_replace(regexp_replace(lower(question), '[^[:alnum:]_.~+@/-]+', ' ', 'g'), '[./-]+( |$)', ' ', 'g') || ' ';
    return own || array(
        with recursive known (space, repository) as (
            -- Each repository is one step in the index, however many facts it has.
            select space, (select min(o.repository) from fact o where o.space_id = space and o.repository is not null) from unnest(coalesce(spaces, array(select id from space))) space
            union all
            select k.space, (select min(o.repository) from fact o where o.space_id = k.space and o.repository > k.repository)
            from known k where k.repository is not null)
        select distinct split_part(k.repository, '#', 1) from known k
        where strpos(words, ' ' || regexp_replace(k.repository, '^.*[/#]', '') || ' ') > 0
              -- The name of the own repository names no other one of this name.
              and regexp_replace(k.repository, '^.*[/#]', '') <> all(array(
                  select regexp_replace(key, '^.*[/#]', '') from string_to_table(setting, ' ') key))
           or strpos(words, ' ' || regexp_replace(k.repository, '^.*?/', '') || ' ') > 0
           or strpos(words, ' ' || k.repository || ' ') > 0);
end
$$;

comment on function textrawl.session_repositories is
    'The keys of the repository of this session (the setting textrawl.repository), and of the repositories of these spaces '
    'that a question names: api, acme/api or github.com/acme/api. The question of the session is the setting '
    'textrawl.question. Null if the session has no repository. '
    'Example: select set_config(''textrawl.repository'', ''github.com/acme/api'', false), textrawl.session_repositories();';
