create function textrawl.fact_repository(entity_type text, given text default textrawl.session_repository()) returns text
language sql immutable parallel safe
begin atomic
    -- What is known of people, and what they like, is no matter of one repository.
    select case when entity_type not in ('person', 'preference') then given end;
end;

comment on function textrawl.fact_repository is
    'The repository of a new fact about an entity of this type: the given one, or by default that of the session. Null: of '
    'none, as facts about people and preferences are. '
    'Example: select textrawl.fact_repository(''project'', ''github.com/acme/api'');';
