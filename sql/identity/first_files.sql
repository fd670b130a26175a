create function textrawl.first_files(space integer) returns table (path text, place bigint)
language sql stable rows 14
begin atomic
    select f.path, f.place
    from unnest(array[
        'self/my_identity.md', 'self/my_persona.md', 'self/my_personhood.md', 'self/my_wants.md', 'self/my_mechanics.md',
        'user/user_identity.md', 'user/user_life.md', 'user/user_beliefs.md', 'user/user_preferences.md',
        'user/user_patterns.md', 'user/user_notes.md', 'relationship/relationship_dynamics.md',
        'relationship/relationship_history.md', 'relationship/relationship_notes.md']) with ordinality f (path, place)
    where first_files.space is not null and not exists (select from textrawl.current_documents(first_files.space, 'identity'));
end;

comment on function textrawl.first_files is
    'The files of an identity that nobody has begun. They are blank. No row if the space has an identity file. The caller '
    'must check that the space may be read.';
