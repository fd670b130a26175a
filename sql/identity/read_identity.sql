create function textrawl.read_identity(
    only_category text default null, only_filename text default null,
    texts boolean default true,  -- false: without the texts of the files
    credential bytea default null, space integer default null
) returns table (
    category text, filename text, content text,
    prompt_label text,
    labelled boolean,  -- false: nobody set a label, so the label is the filename without .md
    version bigint,    -- 0: one of the first_files(), which nobody has written yet
    modified_at timestamptz, modified_by text
)
language plpgsql stable security definer rows 20
set search_path from current
as $$
#variable_conflict use_column
declare
    home      integer := graph_space(credential, space);
    -- These files come first in their category. Other files follow, sorted by name.
    usual     text[] := array[
        'my_identity.md', 'my_persona.md', 'my_personhood.md', 'my_wants.md', 'my_mechanics.md',
        'user_identity.md', 'user_life.md', 'user_beliefs.md', 'user_preferences.md', 'user_patterns.md', 'user_notes.md',
        'relationship_dynamics.md', 'relationship_history.md', 'relationship_notes.md'];
begin
    return query
    select p.category, p.filename, case when texts then d.content end, coalesce(d.label, left(p.filename, -3)),
        d.label is not null, d.version, d.modified_at, d.modified_by
    from (
        select d.path, d.label, d.content, d.version, d.modified_at, d.modified_by
        from current_documents(home, 'identity') d
        union all
        select f.path, null, '', 0, null, null from first_files(home) f) d
    cross join lateral (select split_part(d.path, '/', 1) as category, split_part(d.path, '/', 2) as filename) p
    where (only_category is null or p.category = only_category)
      and (only_filename is null or p.filename = only_filename)
    order by array_position(array['self', 'user', 'relationship', 'custom'], p.category),
        case when p.category <> 'custom' then array_position(usual, p.filename) end nulls last, p.filename collate "C";
end
$$;

comment on function textrawl.read_identity is
    'The identity files of a space: first self, then user, relationship and custom. An identity that nobody has begun has '
    'its first_files(). Errors: TR010, TR011 (access). '
    'Example: select category, filename, content from textrawl.read_identity();';
