package emails

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Stop is explainRefusal for tests.
func (o *Outgoing) Stop(ctx context.Context, tx *postgres.Tx) (*RefusedError, error) {
	return o.explainRefusal(ctx, tx)
}

// CountsAsHard is countsAsHard for tests.
func CountsAsHard(bounced, delivered []time.Time) bool { return countsAsHard(bounced, delivered) }

// ServerID is serverID for tests.
func ServerID(text string) string { return serverID(text) }

// MarkSQL returns the statement of the mark.
func MarkSQL() string { return markSQL("", "true") }
