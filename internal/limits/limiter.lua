-- Admits or refuses one request of one subject; see doc.go for the rule.
--
-- KEYS[1]  list: the admitted moments of the last window in us, oldest first, and last the bucket's
--          theoretical arrival time (TAT): the moment at which the bucket is full again
-- ARGV[1]  us that one request takes from the bucket
-- ARGV[2]  burst: the bucket's size and the most that one window admits
-- ARGV[3]  window in us
-- ARGV[4]  now in us; absent or empty: the server's clock
-- ARGV[5]  requests to decide on: 1, or 0 for a call that only charges. Absent: 1, and nothing to charge
-- ARGV[6]  us that admissions without this script took from the bucket
-- ARGV[7]  and on: their ages in us, of those in the window, the oldest first
--
-- Returns {1 or 0, remaining, us until a request is admitted (0: now), us until remaining grows,
--          1 if the window is the tighter bound, 0 if the bucket is}.
--
-- A key lives until it says nothing any more, and up to 9 s longer: its expiry is renewed once in 8 s. Numbers stay
-- below 2^53; Redis writes them without exponent.

local key = KEYS[1]
local step, burst, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = ARGV[4] and tonumber(ARGV[4])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end

-- The expiry that no admission under this rule needs to renew before the next 8 s begin.
local life = math.ceil(math.max(burst * step, window) / 1000) + 9000

local n = redis.call('LLEN', key) - 1
local known = n >= 0
local tat, newest = now, nil
if known then
  local ends = redis.call('LRANGE', key, -2, -1)
  tat = tonumber(ends[#ends])
  if n > 0 then newest = tonumber(ends[1]) end
else
  n = 0
end

-- A clock that went back by up to a second is waited for. After a larger step no time has passed since the newest
-- admission, as far as anybody knows: all moments move with the clock, so that nobody gets a second burst, and
-- nobody waits for as long as the step was.
local back = 0
if newest and newest > now then
  if newest - now <= 1000000 then now = newest else back = newest - now end
end

local used = tonumber(ARGV[6])
if back > 0 or used then
  local log = {}
  if known then
    for _, moment in ipairs(redis.call('LRANGE', key, 0, -2)) do
      moment = tonumber(moment) - back
      if moment > now - window then log[#log + 1] = moment end
    end
  end
  tat = math.max(tat - back, now)
  if used then
    for i = 7, #ARGV do
      local moment = now - tonumber(ARGV[i])
      if moment > now - window then log[#log + 1] = moment end
    end
    table.sort(log)
    -- An outage leaves the bucket empty at worst: what was admitted beyond it is not made up for.
    tat = math.min(tat + used, now + burst * step)
  end
  known, n = true, #log
  -- The whole list is written anew, which only a charge and a step of the clock need.
  redis.call('DEL', key)
  log[n + 1] = tat
  for i = 1, n + 1, 1000 do
    redis.call('RPUSH', key, unpack(log, i, math.min(i + 999, n + 1)))
  end
  redis.call('PEXPIRE', key, life)
end

local oldest
if n > 0 then
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
if ARGV[5] == '0' then return { 1, 0, 0, 0, 0 } end

-- A rule that was lowered, or a clock that went back, leaves the bucket empty at worst.
tat = math.min(math.max(tat, now), now + burst * step)
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
if known then
  redis.call('LSET', key, -1, now)
  redis.call('RPUSH', key, tat)
else
  redis.call('RPUSH', key, now, tat)
end
if not newest or math.floor(newest / 8000000) ~= math.floor(now / 8000000) then redis.call('PEXPIRE', key, life) end

local in_window, grows_window = burst - (n + 1), (oldest or now) + window - now
local in_bucket, grows_bucket = math.floor((burst * step - (tat - now)) / step), (tat - now) % step
if grows_bucket == 0 then grows_bucket = step end
if in_window < in_bucket or (in_window == in_bucket and grows_window >= grows_bucket) then
  return { 1, in_window, 0, grows_window, 1 }
end
return { 1, in_bucket, 0, grows_bucket, 0 }
