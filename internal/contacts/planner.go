package contacts

import "github.com/funnelwork/funnelwork/internal/postgres"

// planning holds the planner settings for list transactions. contact holds the rows of all orgs, so a sequential scan
// is never right, even if it looks cheap next to one large org. Pages are usually cached. A generic plan suits neither
// a tag that every contact has nor one that no contact has. Starting parallel workers takes longer than a page may.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_custom_plan', true),
	set_config('max_parallel_workers_per_gather', '0', true),
	set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true)`

// hashing lets a statement keep sets of ids in memory. An id takes 40 bytes there. A set that the planner expects not
// to fit would be read again for each look-up.
const hashing = `SELECT set_config('work_mem', '256MB', true)`

// ByKeys makes the following statements in tx look up rows by key, until Planned is called.
func ByKeys(tx *postgres.Tx) { tx.Queue(postgres.PlanByKeys) }

// Planned applies the planner settings of lists to the following statements in tx. Call it before a statement made by
// Selecting.
func Planned(tx *postgres.Tx) { tx.Queue(planning) }
