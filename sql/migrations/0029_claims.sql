-- What a fact claims, read once when the fact is stored. Facts are compared by their claims.

alter table observation add column claim jsonb;
comment on column observation.claim is 'What the fact claims: make_claim(content, language of the space). Null: the text claims nothing that can be compared, or it is a part of a text.';
alter type new_fact add attribute claim jsonb;
comment on column new_fact.claim is 'make_claim(content, language of the space). Null: the text claims nothing that can be compared.';

create function claim_fact() returns trigger
language plpgsql
set search_path from current
as $$
begin
    new.claim := make_claim(new.content, space_language(new.space_id)::text);
    return new;
end
$$;
comment on function claim_fact is 'Store what a fact or a statement claims.';

create trigger fact_is_claimed before insert on observation
for each row when (new.claim is null and new.whole is null) execute function claim_fact();

-- Servers make the claims of old facts, together with their search documents.
insert into document_rebuild (space_id, former_languages)
select s.id, array[s.language] from space s where exists (select from observation o where o.space_id = s.id)
on conflict (space_id) do update set reached = null, reflections = false;
