-- Takes, renews or returns one of a subject's leases.
--
-- KEYS[1]  sorted set: the ids of the leases by the moments in us at which they expire
-- ARGV[1]  id of the lease
-- ARGV[2]  us that the lease lasts; 0 to return it
-- ARGV[3]  the most leases of the subject; a lease that is known is renewed regardless
--
-- Returns 1, or 0 if the subject has no room.

local key, id, life, most = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if life == 0 then
  redis.call('ZREM', key, id)
  return 1
end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now))
-- No lease lasts longer. One that seems to was taken before the clock was set back.
local ends = string.format('%.0f', now + life)
for _, late in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. ends, '+inf')) do
  redis.call('ZADD', key, 'XX', ends, late)
end
if not redis.call('ZSCORE', key, id) and redis.call('ZCARD', key) >= most then return 0 end
redis.call('ZADD', key, ends, id)
redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(life / 1000) + 1000))
return 1
