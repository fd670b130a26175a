create function textrawl.erase_person(
    person text, also text[] default '{}',  -- further names of the person
    keep text default null,     -- as in erasure_plan()
    planned jsonb default null,  -- fingerprints of the plan by the id of the space: erase only the same rows
    space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null
) returns table (space_name text, rows bigint, receipt jsonb)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home   record;
    found  record;
    target record;
    erased boolean := false;
begin
    perform require_keep(keep, person || also);
    perform claim_removal(alone => true);
    for home in
        select s.id, s.name, r.actor_id from space s join access_rights(credential) r on r.space_id = s.id
        where s.id = any(administered_spaces(credential, erase_person.space)) order by s.id
    loop
        select * into found from find_person(home.id, person, also);
        -- While the entities are locked, nobody adds a fact to them.
        perform from entity e where e.space_id = home.id and e.id = any(found.entities) order by e.name_key for update;
        select * into target from count_erasure(home.id, found.names, found.entities, found.actors, keep);
        if target.number > 0 and planned is not null and planned ->> home.id::text is distinct from target.fingerprint then
            raise exception using errcode = 'TR076', message = 'the deletion would take something else than its plan', detail = person;
        end if;
        if target.number > 0 then
            space_name := home.name; rows := target.number;
            receipt := carry_out_erasure(target.rows, target.counts, found.names, found.entities, found.actors, keep,
                erase_person.space is null and may_rename_actors(credential),
                row(home.id, coalesce(home.actor_id, register_actor(session_user)), client, tool, request, false)::origin);
            erased := true;
            return next;
        end if;
    end loop;
    if erase_person.space is null and may_rename_actors(credential) then
        perform rename_erased_actors(credential);
    end if;
    if erased then
        perform renew_statistics();
    end if;
end
$$;

comment on function textrawl.erase_person is
    'Erase what is about or by a person from the spaces that one administers, in one transaction, and return a signed receipt for each '
    'space from which something went. Without `space`, the owner also renames the actor. Nothing brings the content back. '
    'Errors: TR010, TR011 (access), TR076 (`planned` is not the plan), TR120 (no name), TR121 (keep). '
    'Example: select * from textrawl.erase_person(''Jeff'');';
