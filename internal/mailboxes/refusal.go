package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Reasons of a hold that a server has caused by refusing the sender.
const (
	SendingLimit          = "sending_limit"
	SenderNotAllowed      = "sender_not_allowed"
	RelayDenied           = "relay_denied"
	SignInRequired        = "sign_in_required"
	AccountBlocked        = "account_blocked"
	DomainUnauthenticated = "domain_unauthenticated"
	ServerBlocked         = "server_blocked"
)

var refusals = map[string]bool{
	SendingLimit: true, SenderNotAllowed: true, RelayDenied: true, SignInRequired: true, AccountBlocked: true,
	DomainUnauthenticated: true, ServerBlocked: true,
}

// Refusal is what a server says of the sender.
type Refusal struct {
	Reason string        // SendingLimit, ...
	Reply  string        // of the server, on one line
	After  time.Duration // how long the server asks to wait; 0: it does not say
}

// Times of a hold.
const (
	leastLimit   = time.Hour // of a limit whose end is not known
	longestLimit = 24 * time.Hour
	leastRefusal = 15 * time.Minute
	mostRefusal  = 6 * time.Hour
	leastAsked   = time.Minute // of what a server asks for
)

// HoldForRefusal holds an active mailbox because its server refuses the sender, and returns for how long it is held. A
// sending limit is held until it ends: when the server says so, else when the oldest mail of the last 24 hours is a day
// old. Anything else needs a person; meanwhile it is tried again after a quarter of an hour, an hour, four and then
// every six hours.
//
// isOwn, which may be nil, is called for a refusal that is the first since the server has taken a mail. If it reports
// that the refusal is that of one mail, the mailbox is not held.
//
// Refusals of mails that were under way together count once. A mailbox that is held by a person, or disabled, is not
// changed.
func HoldForRefusal(ctx context.Context, tx *postgres.Tx, mailbox id.ID, r Refusal, isOwn func() (bool, error)) (
	hold time.Duration, err error,
) {
	row, err := table.Lock(ctx, tx, mailbox, true)
	if err != nil {
		return 0, err
	}
	m := &row.Value
	now := time.Now()
	switch {
	case m.Status == Held && m.HeldUntil == nil, m.Status == Disabled, m.Status == Unverified, m.ArchivedAt != nil:
		return leastRefusal, nil
	case m.Status == Held && m.HeldUntil.After(now):
		return m.HeldUntil.Sub(now), nil
	}

	if m.refusals == 0 && isOwn != nil {
		if own, err := isOwn(); own || err != nil {
			return 0, err
		}
	}
	m.refusals++
	if hold, err = refusalHold(ctx, tx, m, &r); err != nil {
		return 0, err
	}
	until := wire.At(now.Add(hold))
	m.Status, m.reason, m.HeldUntil, m.refusalReply = Held, r.Reason, &until, r.Reply
	setState(tx, m)

	return hold, nil
}

// refusalHold returns how long a locked mailbox is held.
func refusalHold(ctx context.Context, tx *postgres.Tx, m *stored, r *Refusal) (time.Duration, error) {
	switch {
	case r.After > 0:
		return min(max(r.After, leastAsked), longestLimit), nil
	case r.Reason != SendingLimit:
		return min(leastRefusal<<(2*min(m.refusals-1, 8)), mostRefusal), nil
	}
	var left *time.Duration
	err := tx.QueryRow(ctx, `SELECT min(marked_at) + $3::interval - clock_timestamp() FROM email
		WHERE org_id = $1 AND mailbox_id = $2 AND marked_at > clock_timestamp() - $3::interval`,
		[]any{tx.Org(), m.ID, Window}, &left)
	if err != nil {
		return 0, fmt.Errorf("read marks: %w", err)
	}
	if left == nil {
		return leastLimit, nil
	}

	return min(max(*left, leastLimit), longestLimit), nil
}
