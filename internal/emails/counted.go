package emails

import (
	"context"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Outcome is what became of an email, for metrics. The transactions that record one hand it on after their commit: see
// postgres.Options.
type Outcome string

// The outcomes: the last parts of the types of the events that report them.
const (
	OutcomeSent       Outcome = "sent"
	OutcomeFailed     Outcome = "failed"
	OutcomeUnknown    Outcome = "unknown"
	OutcomeBounced    Outcome = "bounced"
	OutcomeComplained Outcome = "complained"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OutcomeSent, OutcomeFailed, OutcomeUnknown, OutcomeBounced, OutcomeComplained}
}

// announceOutcome announces e, and counts it once tx has committed if it is one of the outcomes.
func announceOutcome(ctx context.Context, tx *postgres.Tx, e events.Event) error {
	if o := Outcome(strings.TrimPrefix(e.Type(), "email.")); slices.Contains(Outcomes(), o) {
		tx.AfterCommit(o)
	}
	return events.Announce(ctx, tx, e)
}
