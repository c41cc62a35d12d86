package postgres

// PlanByDay precedes statements that read, update or delete rows of a table with a partition for each day. A plan for
// the actual ids names the partitions of those ids alone, so its cost does not depend on how many days are kept. A plan
// for any ids, which a session also makes merely to compare its cost, names and locks all, and the locks of some
// sessions at once are more than a server has room for. An INSERT needs none: it locks the partitions that it writes.
const PlanByDay = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`
