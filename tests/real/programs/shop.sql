-- 100,000 rows, then what makes sqlite allocate: indexes, sorters, windows, json, full text.
pragma journal_mode = memory;
create table item(id integer primary key, shop integer, name text, price real, body text);
with recursive number(n) as (select 1 union all select n + 1 from number where n < 100000)
insert into item
    select n, n * 7919 % 97, 'item-' || (n * 104729 % 50021), (n * 31 % 10007) / 100.0,
           substr('abcdefghijklmnopqrstuvwxyz', 1 + n % 20) || hex(n * 2654435761 % 4294967296)
    from number;
create index item_name on item(name);
create index item_shop_price on item(shop, price desc);
select count(*), sum(price), count(distinct name), max(length(body)) from item;
select shop, count(*), round(avg(price), 3), min(name), max(body) from item group by shop order by 3 desc, 1 limit 10;
select count(*), sum(a.price - b.price > 50) from item a join item b on a.name = b.name and a.id < b.id;
select id, name, total from (
    select id, name, round(sum(price) over (partition by shop order by id rows 10 preceding), 2) as total from item
) order by total desc, id limit 10;
select json_extract(value, '$.n'), count(*) from (
    select json_object('n', substr(name, 1, 6), 'list', json_array(id, price, body)) as value from item where id % 3 = 0
) group by 1 order by 2 desc, 1 limit 10;
create virtual table word using fts5(body);
insert into word(rowid, body) select id, replace(body, '7', ' ') from item where id % 5 = 0;
select count(*) from word where word match 'abc* or xyz*';
select group_concat(name, ',') from (select name from item where price > 100 order by name limit 40);
delete from item where id % 2 = 0;
update item set body = body || body || name where id % 7 = 0;
vacuum;
pragma integrity_check;
select count(*), sum(length(body)) from item;
