package emails

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ByMessageIDs returns the emails with the Message-IDs, which are given without angle brackets, by Message-ID.
func ByMessageIDs(ctx context.Context, tx *postgres.Tx, names []string) (map[string]Row, error) {
	if len(names) == 0 {
		return nil, nil //nolint:nilnil // a nil map has no emails
	}
	hashes := make([][]byte, len(names))
	for i, name := range names {
		hashes[i] = HashOf(name)
	}
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM email WHERE org_id = $1 AND message_hash = ANY ($2::bytea[])`,
		tx.Org(), hashes)
	if err != nil {
		return nil, fmt.Errorf("find emails: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("find emails: %w", err)
	}

	out := make(map[string]Row, len(all))
	for i := range all {
		out[all[i].MessageID] = all[i]
	}

	return out, nil
}

// LastTo returns the latest email that a mailbox has sent, or may have sent, to a contact since a time; nil: none.
func LastTo(ctx context.Context, tx *postgres.Tx, contact, mailbox id.ID, since time.Time) (*Row, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM email WHERE org_id = $1 AND contact_id = $2 AND mailbox_id = $3
		AND marked_at > $4 ORDER BY id DESC LIMIT 1`, tx.Org(), contact, mailbox, since)
	if err != nil {
		return nil, fmt.Errorf("find last email: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanRow)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// OfThread returns the latest emails of a thread that were sent, or may have been, with their content.
func OfThread(ctx context.Context, tx *postgres.Tx, thread id.ID, limit int) ([]*Full, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM email WHERE org_id = $1 AND thread_id = $2
		AND marked_at IS NOT NULL ORDER BY id DESC LIMIT $3`, tx.Org(), thread, limit)
	if err != nil {
		return nil, fmt.Errorf("read emails of thread: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read emails of thread: %w", err)
	}

	all := make([]*Full, len(found))
	for i, r := range found {
		if all[i], err = WithContent(ctx, tx, r); err != nil {
			return nil, err
		}
	}

	return all, nil
}

// ErrGone is the error of Record for an email that does not exist.
var ErrGone = errors.New("there is no such email")

// Incoming is what an incoming mail tells about an email. At most one of its facts is set.
type Incoming struct {
	DeliveredAt, ComplainedAt, RepliedAt *wire.Time
	Bounced                              string     // hard, soft, or ""
	Soft                                 *wire.Time // when a soft bounce came that counts towards a hard one
	Code                                 string     // of the bounce
	Class                                string     // of the incoming mail
	// Proves reports that the mail names the email's Message-ID, which only a recipient can know: an email whose fate
	// was unknown is sent.
	Proves bool
}

// isKnown reports whether an email has the fact already, by another report of the same. Each reply is one of its own.
func (f *Incoming) isKnown(facts *Facts) bool {
	return f.DeliveredAt != nil && facts.DeliveredAt != nil || f.ComplainedAt != nil && facts.ComplainedAt != nil ||
		f.Bounced != "" && facts.Bounced != nil && (*facts.Bounced == "hard" || *facts.Bounced == f.Bounced)
}

// Record locks an email, writes a fact and announces it. A fact that is known already is not announced again.
func Record(ctx context.Context, tx *postgres.Tx, i id.ID, f *Incoming) error {
	r, err := lockEmail(ctx, tx, i)
	if fault.Is(err, fault.NotFound) {
		return ErrGone
	}
	if err != nil {
		return err
	}
	if f.Proves && r.Status == Unknown {
		r.Evidence = append(r.Evidence, Evidence{Kind: IncomingMail, Result: Found, At: wire.Now()})
		r.Status, r.StatusReason, r.SentAt = Sent, nil, r.MarkedAt
		r.Computed++
		if err := recordOutcome(ctx, tx, &r); err != nil {
			return err
		}
	}
	if f.isKnown(&r.Facts) {
		return nil
	}

	e := r.Event()
	e.Class, e.Sure = &f.Class, new(true)
	var happened events.Event
	switch {
	case f.DeliveredAt != nil:
		happened = events.EmailDelivered{Email: e}
	case f.ComplainedAt != nil:
		happened = events.EmailComplained{Email: e}
	case f.RepliedAt != nil:
		happened = events.EmailReplied{Email: e}
	case f.Bounced != "":
		e.BounceKind = &f.Bounced
		if f.Code != "" {
			e.Code = &f.Code
		}
		happened = events.EmailBounced{Email: e}
	default:
		return nil
	}

	tx.Queue(`UPDATE email SET delivered_at = coalesce(delivered_at, $3), complained_at = coalesce(complained_at, $4),
			replied_at = coalesce(replied_at, $5),
			bounced = CASE WHEN bounced = 'hard' THEN 'hard' ELSE coalesce(nullif($6, ''), bounced) END,
			soft_bounced_at = coalesce(soft_bounced_at, $7), computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), i, f.DeliveredAt, f.ComplainedAt, f.RepliedAt, f.Bounced, f.Soft)

	return announceOutcome(ctx, tx, happened)
}

// Forget queues that a fact is no longer known: replied_at, complained_at, delivered_at or bounced. A refusal by the
// server, at which the email failed, stays.
func Forget(tx *postgres.Tx, i id.ID, fact string) {
	tx.Queue(`UPDATE email SET replied_at = CASE WHEN $3 = 'replied_at' THEN NULL ELSE replied_at END,
			complained_at = CASE WHEN $3 = 'complained_at' THEN NULL ELSE complained_at END,
			delivered_at = CASE WHEN $3 = 'delivered_at' THEN NULL ELSE delivered_at END,
			bounced = CASE WHEN $3 = 'bounced' AND status <> 'failed' THEN NULL ELSE bounced END,
			soft_bounced_at = CASE WHEN $3 = 'bounced' THEN NULL ELSE soft_bounced_at END,
			computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), i, fact)
}

// ByServerID returns the latest email of a mailbox to which its server has given one of the ids; nil: none.
func ByServerID(ctx context.Context, tx *postgres.Tx, mailbox id.ID, ids []string) (*Row, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM email WHERE org_id = $1 AND mailbox_id = $2
		AND server_id = ANY ($3) AND server_id <> '' ORDER BY id DESC LIMIT 1`, tx.Org(), mailbox, ids)
	if err != nil {
		return nil, fmt.Errorf("find email by the server's id: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanRow)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}
