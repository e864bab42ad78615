-- Tables, closures, coroutines and string building; prints checksums.
local state = 42

local function next_number()
  state = (state * 1103515245 + 12345) & 0x7fffffff
  return state >> 8
end

local function checksum(text)
  local sum = 0
  for i = 1, #text, 97 do
    sum = (sum * 31 + text:byte(i)) & 0xffffffff
  end
  return sum
end

-- A live set that is replaced entry by entry, with sizes from 1 byte to 2 KiB.
local slots = {}
for _ = 1, 200000 do
  slots[next_number() % 20000] = { string.rep("x", next_number() % 2048), next_number() }
end
local total, count = 0, 0
for _, slot in pairs(slots) do
  total, count = total + #slot[1] + slot[2], count + 1
end
print("replaced table:", count, total)

local parts = {}
for i = 1, 200000 do
  parts[#parts + 1] = i .. ":" .. next_number()
end
local text = table.concat(parts, ",")
print("concat:", #text, checksum(text))
local changed, times = text:gsub("(%d+):(%d+)", "%2=%1")
print("gsub:", #changed, times, checksum(changed))
table.sort(parts)
print("sort:", parts[1], parts[#parts // 2], parts[#parts])

local threads = {}
for i = 1, 5000 do
  threads[i] = coroutine.wrap(function(value)
    while true do
      value = coroutine.yield(value .. i)
    end
  end)
end
local sum = 0
for round = 1, 3 do
  for i = 1, #threads do
    sum = sum + #threads[i](tostring(round))
  end
end
print("coroutines:", #threads, sum)

threads, parts = nil, nil
collectgarbage()
collectgarbage("generational")
for _ = 1, 50000 do
  slots[next_number() % 20000] = function() return slots end
end
print("done")
