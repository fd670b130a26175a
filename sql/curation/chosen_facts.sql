create function textrawl.chosen_facts(source textrawl.entity, facts text[], ended boolean) returns uuid[]
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_variable
declare
    named  uuid[] := array(select find_fact(source.space_id, source.id, f.text) from unnest(facts) f (text));
    chosen uuid[];
begin
    -- A long observation of the graph tools is several facts. They go together.
    chosen := array(
        select o.id from fact o
        where o.space_id = source.space_id and o.entity_id = source.id
          and case when facts is null then ended or is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
                   else o.id = any(named) or o.whole in (
                       select p.whole from fact p where p.space_id = source.space_id and p.id = any(named)) end
        order by o.ordinal, o.id);
    perform refuse_parts(source.space_id, chosen);
    return chosen;
end
$$;

comment on function textrawl.chosen_facts is
    'The facts of an entity that are shared: the given facts with all parts of long ones, or all valid facts, or all '
    'facts. Errors: TR001 or TR002 (no fact or several facts match), TR055 (a fact is a part of a journal entry).';
