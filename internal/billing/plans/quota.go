package plans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Refused converts the error of a commit that a limit rejected into a fault for the caller. It returns nil for any
// other error. When a limit rejects a commit, no row is written.
func (c *Catalogue) Refused(err error) *fault.Fault {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pg.Code != "FW001" || pg.Message != string(fault.PlanLimitReached) {
		return nil
	}

	var at struct {
		Feature string `json:"feature"`
		Limit   int64  `json:"limit"`
		Used    int64  `json:"used"`
		Plan    string `json:"plan"`
		Status  Status `json:"status"`
	}

	if bad := json.Unmarshal([]byte(pg.Detail), &at); bad != nil {
		return fault.New(fault.PlanLimitReached, "The plan's limit is reached.").Because(err)
	}

	open := at.Status == Active || at.Status == Trialing || at.Status == PastDue

	return c.Full(at.Feature, at.Limit, at.Used, at.Plan, open).Because(err)
}

// Full returns the fault for a request that would exceed the limit of a feature.
func (c *Catalogue) Full(feature string, limit, used int64, plan string, open bool) *fault.Fault {
	return &fault.Fault{
		Code: fault.PlanLimitReached,
		Detail: fmt.Sprintf("The plan's limit of %s is reached: %d of %d are in use.",
			spaceWords(feature), used, limit),
		More: map[string]any{
			"feature": feature, "limit": limit, "used": used,
			"upgrade_to": orNull(c.Upgrade(plan, open, feature, limit)),
		},
	}
}

// spaceWords returns a feature's key as text: "social_accounts" becomes "social accounts".
func spaceWords(feature string) string {
	b := []byte(feature)
	for i := range b {
		if b[i] == '_' {
			b[i] = ' '
		}
	}
	return string(b)
}

// Space is the remaining room for a feature.
type Space struct {
	Left int64        // Unlimited without a limit
	Full *fault.Fault // the fault for more than Left
}

// Room returns how many more rows of a feature fit at this moment, for bulk work. Concurrent transactions may take the
// room; the commit enforces the limit.
func (c *Catalogue) Room(ctx context.Context, tx *postgres.Tx, feature string) (Space, error) {
	return c.readRoom(ctx, tx, feature, 0)
}

// readRoom is Room for a feature of which more are in use than quota counts.
func (c *Catalogue) readRoom(ctx context.Context, tx *postgres.Tx, feature string, more int64) (Space, error) {
	var (
		limit, used int64
		overage     bool
		plan        string
		status      Status
	)

	err := tx.QueryRow(ctx,
		`SELECT q.cap, q.used, q.overage, s.plan, s.status FROM quota q JOIN subscription s ON s.org_id = q.org_id
		WHERE q.org_id = $1 AND q.feature = $2`, []any{tx.Org(), feature}, &limit, &used, &overage, &plan, &status)
	switch {
	case postgres.None(err), err == nil && overage:
		return Space{Left: Unlimited}, nil
	case err != nil:
		return Space{}, fmt.Errorf("read quota: %w", err)
	}

	used += more
	open := status == Active || status == Trialing || status == PastDue

	return Space{Left: max(0, limit-used), Full: c.Full(feature, limit, max(used, limit), plan, open)}, nil
}

// Overage returns the number of client orgs above the limit of tx's org if its plan permits overage, otherwise 0.
func Overage(ctx context.Context, tx *postgres.Tx) (int64, error) {
	var n int64
	err := tx.QueryRow(ctx,
		`SELECT coalesce(max(greatest(0, used - cap)), 0) FROM quota WHERE org_id = $1 AND feature = $2 AND overage`,
		[]any{tx.Org(), Clients}, &n)
	if err != nil {
		return 0, fmt.Errorf("read overage: %w", err)
	}

	return n, nil
}
