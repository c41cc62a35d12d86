package overview

import (
	"context"
	"strings"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// FirstStep is one of the first steps in an org, and whether the org has done it.
type FirstStep struct {
	Key  string `json:"key" doc:"Such as create_contact or choose_plan; steps may be added"`
	Done bool   `json:"done" doc:"Whether the organization has such a record, or had one before it was archived"`
}

// steps holds the first steps, in the order shown, with the SQL condition of each. $1 is the org.
var steps = []struct{ key, done string }{
	{"create_contact", `EXISTS (SELECT FROM contact WHERE org_id = $1)`},
	{"invite_member", `EXISTS (SELECT FROM invitation WHERE org_id = $1)
		OR EXISTS (SELECT FROM member WHERE org_id = $1 OFFSET 1)`},
	{"create_api_key", `EXISTS (SELECT FROM api_key WHERE org_id = $1)`},
	{"create_webhook", `EXISTS (SELECT FROM webhook_endpoint WHERE org_id = $1)`},
	{"see_delivery", `EXISTS (SELECT FROM day_count WHERE org_id = $1 AND deliveries > 0)`},
	{"connect_account", `EXISTS (SELECT FROM social_account WHERE org_id = $1)`},
	{"choose_plan", `EXISTS (SELECT FROM org WHERE id = $1 AND plan <> 'trial')`},
}

// readOnboarding reads which steps are done.
func (o *Overview) readOnboarding(ctx context.Context, tx *postgres.Tx) error {
	conditions := make([]string, len(steps))
	done := make([]bool, len(steps))
	at := make([]any, len(steps))
	for i, s := range steps {
		conditions[i], at[i] = "("+s.done+")", &done[i]
	}

	if err := tx.QueryRow(ctx, "SELECT "+strings.Join(conditions, ", "), []any{tx.Org()}, at...); err != nil {
		return err
	}

	for i, s := range steps {
		o.Onboarding = append(o.Onboarding, FirstStep{Key: s.key, Done: done[i]})
	}

	return nil
}
