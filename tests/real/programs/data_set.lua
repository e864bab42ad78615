-- Runs inside redis-server: strings, lists, hashes, sets, sorted sets and streams of many sizes.
local state = 42
local function next_number(bound)
  state = (state * 16807) % 2147483647
  return state % bound
end
for i = 1, 20000 do
  redis.call('set', 'string:' .. next_number(5000), string.rep('x', next_number(2000)))
  redis.call('append', 'grown:' .. i % 20, string.rep('y', next_number(300)))
  redis.call('rpush', 'list:' .. i % 50, string.rep('z', next_number(100)))
  redis.call('hset', 'hash:' .. i % 30, 'field' .. next_number(3000), i)
  redis.call('sadd', 'set:' .. i % 10, 'member' .. next_number(9000))
  redis.call('zadd', 'sorted:' .. i % 5, next_number(100000), 'member' .. next_number(9000))
  redis.call('xadd', 'stream', i .. '-1', 'value', next_number(1000))
  if i % 3 == 0 then
    redis.call('del', 'string:' .. next_number(5000))
    redis.call('lpop', 'list:' .. next_number(50))
  end
end
return redis.call('dbsize')
