-- Admits or refuses one request of one subject; see doc.go for the rule.
--
-- KEYS[1]  list: the admitted moments of the last window in us, oldest first, and last the bucket's
--          theoretical arrival time (TAT): the moment at which the bucket is full again
-- ARGV[1]  us that one request takes from the bucket
-- ARGV[2]  burst: the bucket's size and the most that one window admits
-- ARGV[3]  window in us
-- ARGV[4]  now in us; absent: the server's clock
--
-- Returns {1 or 0, remaining, us until a request is admitted (0: now), us until remaining grows,
--          1 if the window is the tighter bound, 0 if the bucket is}.
--
-- A key lives until it says nothing any more. Numbers stay below 2^53 and are written without exponent.

local key = KEYS[1]
local step, burst, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[4])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end

local n = redis.call('LLEN', key) - 1
local known = n >= 0
local tat, oldest, stale = now, nil, false
if known then
  local ends = redis.call('LRANGE', key, -2, -1)
  tat = tonumber(ends[#ends])
  if n > 0 then
    local newest = tonumber(ends[1])
    if newest > now then
      -- The clock went back: a little is waited out, after more the log says nothing.
      if newest - now <= 1000000 then now = newest else stale = true end
    end
  end
  if tat - now > burst * step then stale = true end
  if stale then
    n, tat = 0, now + (burst - 1) * step
  elseif n > 0 then
    oldest = tonumber(redis.call('LINDEX', key, 0))
    if oldest <= now - window then
      -- Count what has left the window by halving, then drop it.
      local low, high = 1, n
      while low < high do
        local mid = math.floor((low + high) / 2)
        if tonumber(redis.call('LINDEX', key, mid)) <= now - window then low = mid + 1 else high = mid end
      end
      redis.call('LTRIM', key, low, -1)
      n = n - low
      oldest = n > 0 and tonumber(redis.call('LINDEX', key, 0)) or nil
    end
  end
else
  n = 0
end

if tat < now then tat = now end
local wait_bucket = tat + step - burst * step - now
local wait_window = 0
if n >= burst then
  local leaves = oldest
  if n > burst then leaves = tonumber(redis.call('LINDEX', key, n - burst)) end
  wait_window = leaves + window - now
end

if wait_bucket > 0 or wait_window > 0 then
  local by_window = wait_window >= wait_bucket
  local wait = by_window and wait_window or wait_bucket
  return { 0, 0, wait, wait, by_window and 1 or 0 }
end

tat = tat + step
if stale then redis.call('DEL', key) end
if known and not stale then
  redis.call('LSET', key, -1, string.format('%.0f', now))
  redis.call('RPUSH', key, string.format('%.0f', tat))
else
  redis.call('RPUSH', key, string.format('%.0f', now), string.format('%.0f', tat))
end
local life = math.max(tat - now, window)
redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(life / 1000) + 1000))

local in_window, grows_window = burst - (n + 1), (oldest or now) + window - now
local in_bucket, grows_bucket = math.floor((burst * step - (tat - now)) / step), (tat - now) % step
if grows_bucket == 0 then grows_bucket = step end
if in_window < in_bucket or (in_window == in_bucket and grows_window >= grows_bucket) then
  return { 1, in_window, 0, grows_window, 1 }
end
return { 1, in_bucket, 0, grows_bucket, 0 }
