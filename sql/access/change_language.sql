create function textrawl.change_language(name text, language text, credential bytea default null)
returns table (
    space text, former_language text, new_language text,
    documents bigint  -- number of facts, reflections and items whose search documents will be made anew
)
language plpgsql volatile security definer
set search_path from current
set lock_timeout = '10s'
as $$
#variable_conflict use_column
declare
    target_space integer := find_space(change_language.name);
    changed      space;
    chosen       text;
begin
    perform require_admin(credential, target_space);
    chosen := require_language(change_language.language);
    -- Wait for statements that store documents in the former language. Later statements see the new language.
    lock table observation, reflection, item in share mode;
    select * into changed from space s where s.id = target_space for no key update;
    documents := (select count(*) from observation o where o.space_id = target_space)
        + (select count(*) from reflection r where r.space_id = target_space)
        + (select count(*) from item i where i.space_id = target_space and i.fts is not null);
    if changed.language = chosen then
        documents := 0;
    elsif documents > 0 then
        insert into document_rebuild as r (space_id, former_languages) values (target_space, array[changed.language])
        on conflict (space_id) do update
        set former_languages = array_remove(r.former_languages || excluded.former_languages, chosen),
            reflections = false, reached = null, started_at = now();
    end if;
    update space s set language = chosen where s.id = target_space and s.language <> chosen;
    return query select changed.name, changed.language, chosen, documents;
end
$$;

comment on function textrawl.change_language is
    'Change the language of a space to any text search configuration of Postgres. Servers then make the search '
    'documents of the space anew in the background. Meanwhile a search finds old and new documents. The caller must be '
    'the owner or have the scope admin in the space. Errors: TR010, TR011 (access), TR020 (no such space), TR033 (no '
    'such language). '
    'Example: select * from textrawl.change_language(name => ''team'', language => ''german'');';
