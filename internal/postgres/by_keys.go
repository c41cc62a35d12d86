package postgres

// PlanByKeys precedes statements that look up many rows by key. They use one generic plan, whatever the org and the
// number of keys: if an org has just begun to grow, the statistics say that it has almost no rows, and a plan for the
// actual keys would read the whole org in each statement instead of looking up a thousand keys. Joins are nested loops,
// since without statistics (autovacuum has measured a table, but not analyzed it yet) a join that reads the org seems
// cheaper.
const PlanByKeys = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_generic_plan', true),
	set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`
