create function textrawl.find_language(name text) returns text
language plpgsql stable
set search_path from current
as $$
declare
    found_name text;
begin
    select case when n.nspname = 'pg_catalog' then quote_ident(c.cfgname) else format('%I.%I', n.nspname, c.cfgname) end
    into found_name
    from pg_ts_config c join pg_namespace n on n.oid = c.cfgnamespace
    where c.oid = find_language.name::regconfig and find_language.name !~ '^[0-9-]*$';  -- regconfig reads a number as an oid
    return found_name;
exception
    when undefined_object or invalid_schema_name or invalid_name or syntax_error or feature_not_supported
        or insufficient_privilege or numeric_value_out_of_range then
        return null;
end
$$;

comment on function textrawl.find_language is
    'The name of a text search configuration in the form in which space.language stores it; null if this Postgres has '
    'no such configuration. '
    'Example: select textrawl.find_language(''German'');';
