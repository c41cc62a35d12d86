-- Takes a cost from one subject's bucket, or gives some back.
--
-- KEYS[1]  the theoretical arrival time (TAT) in us: the moment at which the bucket is full again
-- ARGV[1]  us that one token takes
-- ARGV[2]  the bucket's size in tokens
-- ARGV[3]  tokens to take; below zero: to give back
-- ARGV[4]  now in us; absent or empty: the server's clock
-- ARGV[5]  us of the bucket that were taken without this script, which come first
--
-- Returns {1 or 0, tokens left, us until the cost fits (0: now), us until the bucket is full}.

local step, size, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[4] or '')
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end

local tat = tonumber(redis.call('GET', KEYS[1]) or now)
-- A clock that went back by more than the bucket holds says nothing any more.
if tat > now + size * step then tat = now + size * step end
if tat < now then tat = now end

local function write(tat)
  redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', string.format('%.0f', math.ceil((tat - now) / 1000) + 1000))
end

local used = tonumber(ARGV[5] or 0)
if used > 0 then
  tat = math.min(tat + used, now + size * step)
  write(tat)
end

local after = tat + cost * step
local wait = after - (now + size * step)
if cost > 0 and wait > 0 then
  return { 0, math.floor((now + size * step - tat) / step), wait, tat - now }
end
if after <= now then
  redis.call('DEL', KEYS[1])
  return { 1, size, 0, 0 }
end
write(after)
return { 1, math.floor((now + size * step - after) / step), 0, after - now }
