package org

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ActFilter selects entries of the audit log. The zero ActFilter selects every entry.
type ActFilter struct {
	Actor      string // id of the user or API key
	Action     string
	TargetType string
	Target     string // id of the target
	// After and Before are exclusive.
	After, Before time.Time
}

// planning makes Postgres plan for the given values and use an index, since the table holds the entries of all orgs.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('plan_cache_mode', 'force_custom_plan', true)`

// clockSkew is the maximum difference assumed between the clocks of API processes, which make ids, and of Postgres,
// which sets created_at.
const clockSkew = time.Minute

// whereSQL returns the condition of f. The bounds on id repeat those on created_at in the order of the indexes.
func (f *ActFilter) whereSQL(org id.ID) (sql string, args []any) {
	sql = "org_id = $1"
	args = []any{org}
	and := func(condition string, value any) {
		args = append(args, value)
		sql += " AND " + condition + " $" + strconv.Itoa(len(args))
	}

	for _, c := range []struct{ condition, value string }{
		{"actor_id =", f.Actor}, {"action =", f.Action}, {"target_type =", f.TargetType}, {"target_id =", f.Target},
	} {
		if c.value != "" {
			and(c.condition, c.value)
		}
	}

	if !f.After.IsZero() {
		and("created_at >", f.After)
		and("id >=", id.Floor(f.After.Add(-clockSkew)))
	}
	if !f.Before.IsZero() {
		and("created_at <", f.Before)
		and("id <", id.Floor(f.Before.Add(clockSkew)))
	}

	return sql, args
}

// listSQL returns the statement of Acts.
func (f *ActFilter) listSQL(org, below id.ID, limit int) (sql string, args []any) {
	where, args := f.whereSQL(org)
	if !below.IsZero() {
		args = append(args, below)
		where += " AND id < $" + strconv.Itoa(len(args))
	}

	args = append(args, limit)
	return `SELECT id, created_at, actor_type, NULLIF(actor_id, ''), action, target_type, target_id, detail,
		NULLIF(request_id, '')
		FROM audit_log WHERE ` + where + ` ORDER BY id DESC LIMIT $` + strconv.Itoa(len(args)), args
}

// CountActs returns the number of entries that f selects.
func CountActs(ctx context.Context, tx *postgres.Tx, f *ActFilter) (n int64, err error) {
	where, args := f.whereSQL(tx.Org())
	tx.Queue(planning)
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM audit_log WHERE "+where, args, &n); err != nil {
		return 0, fmt.Errorf("count audit log: %w", err)
	}
	return n, nil
}
