create function textrawl.apply_erasure(
    receipt jsonb, tool text default 'sql',
    unsigned boolean default true  -- false: only receipts with the key of the space
) returns text  -- applied, known, altered or elsewhere
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    home    space;
    secret  bytea;
    mine    boolean;
    present boolean;  -- some rows of the receipt are here
    again   boolean;  -- the erasure is done here, and something older came after it
    names   text[];
    actors  integer[];
    found   record;
    target  record;
begin
    perform require_owner();
    perform claim_removal(alone => true);
    select s.* into home from space s
    where s.id = (receipt ->> 'space_id')::integer and (s.name = receipt ->> 'space' or receipt ->> 'space' is null
          or receipt_key_id(s.id) = receipt ->> 'key');
    if home.id is null then
        return 'elsewhere';
    end if;
    -- A backup of a version without receipts gets a new key. Then only the ids of the receipt are known.
    secret := receipt_key(home.id);
    mine := receipt_key_id(home.id) is not distinct from receipt ->> 'key';
    if mine and hmac_sha256((receipt - 'signature')::text, secret) is distinct from receipt ->> 'signature' then
        return 'altered';
    end if;
    present := exists (
        select from jsonb_each(receipt -> 'rows') r cross join jsonb_array_elements_text(r.value) k (key)
        where r.key not like '% redacted' and (exists (select from entity e where e.space_id = home.id and e.id::text = k.key)
           or exists (select from observation o where o.space_id = home.id and o.id::text = k.key)
           or exists (select from relation x where x.space_id = home.id and x.id::text = k.key)
           or exists (select from document d where d.space_id = home.id and d.id::text = k.key)));
    if not mine and not (unsigned and present) then
        return 'elsewhere';
    end if;
    again := exists (select from erasure e where e.space_id = home.id and e.id::text = receipt ->> 'erasure');
    names := array(
        select n.name from (
            select e.id, e.name from entity e where e.space_id = home.id
            union all
            select a.entity_id, a.name from entity_alias a where a.space_id = home.id and a.removed_at is null
            union all
            select g.entity_id, g.label from graph_node g where g.space_id = home.id and g.label is not null) n
        where receipt -> 'names' ? hmac_sha256(name_key(n.name), secret) or receipt -> 'rows' -> 'entity' ? n.id::text);
    select * into found from find_person(home.id, '', names);
    actors := found.actors || array(
        select a.id from actor a
        where receipt -> 'actors' @> jsonb_build_array(jsonb_build_object('id', a.id, 'name', hmac_sha256(name_key(a.name), secret))));
    -- Where the erasure is done, what was written since then stays, also about somebody of the same name.
    select * into target from count_erasure(home.id, found.names, found.entities, actors, receipt ->> 'keep',
                                            case when again then (receipt ->> 'at')::timestamptz end);
    if again and target.number = 0 and not present then
        return 'known';
    end if;
    perform carry_out_erasure(
        (select coalesce(jsonb_object_agg(k, coalesce(target.rows -> k, '[]') || coalesce(receipt -> 'rows' -> k, '[]')), '{}')
         from (select jsonb_object_keys(target.rows || (receipt -> 'rows')) as k) keys),
        target.counts, found.names,
        case when again then array(select jsonb_array_elements_text(target.rows -> 'entity')::uuid) else found.entities end,
        actors, receipt ->> 'keep', false,
        row(home.id, register_actor(session_user), null, tool, null, false)::origin, receipt, redacting => not again);
    perform rename_erased_actors();
    perform renew_statistics();
    return 'applied';
end
$$;

comment on function textrawl.apply_erasure is
    'Erase again, after a restore or an import, what a receipt says: its rows by their ids, and everything older that is '
    'about or by the person, whom the hashes of the names find. Errors: TR013 (not the owner).';
