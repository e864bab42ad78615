-- After pgbench with a fixed seed the balances are known; then queries that fill memory contexts.
select count(*), sum(abalance) from pgbench_accounts;
select sum(delta), count(*) from pgbench_history;
create table item as
    select n as id, n * 7919 % 97 as shop, 'item-' || (n * 104729::bigint % 50021) as name,
           repeat(chr(97 + n % 26), n % 200) as body
    from generate_series(1, 60000) as n;
create index on item(name);
analyze item;
set work_mem = '32MB';
select shop, count(*), max(body), min(name) from item group by shop order by 2 desc, 1 limit 10;
select count(*) from item a join item b using (name) where a.id < b.id;
set work_mem = '64kB';
select md5(string_agg(name || body, ',' order by body, id)) from item;
select md5(jsonb_agg(to_jsonb(item) order by id)::text) from item where id % 10 = 0;
select count(*) from (select regexp_split_to_table(name || body, '[aeiou1-3]') from item where id % 4 = 0) as part;
do $$
declare
    words text[] := '{}';
    total bigint := 0;
begin
    for i in 1..5000 loop
        words := words || repeat('w', i % 50);
        begin
            if i % 10 = 0 then
                raise exception 'number %', i;
            end if;
        exception when raise_exception then
            total := total + length(sqlerrm);
        end;
    end loop;
    raise notice 'words %, total %', array_length(words, 1), total;
end
$$;
