package orgsending

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// Reasons of a slot that is not free.
const (
	ByCap    = "org_daily_cap"
	ByDomain = "domain_daily_cap"
)

// Mail is a mail that is about to be marked.
type Mail struct {
	Domain    string // of the recipient, as email.to_domain has it
	Automated bool   // of a sequence or broadcast
	Sandbox   bool   // of a sandbox mailbox, whose mail goes nowhere: domains have no cap for it
}

// Caps are the caps of an org within the transaction of a mark.
type Caps struct {
	daily, domain *int
	room          *int // see org_sending.cap_room
	now           time.Time
}

const capsSQL = `SELECT daily_cap, domain_daily_cap, cap_room, clock_timestamp() FROM org_sending WHERE org_id = $1`

// The lock under which marks and changes of the settings exclude each other. Otherwise a mark that has found no cap
// could be committed after the first count for a new one, which would not see it.
const lockKey = `hashtextextended('org_sending ' || $1::text, 0)`

// ReadCaps queues reading the caps of the org of tx, which are known after the next query of tx. So a mark needs no
// round trip for them. Update waits until tx ends.
func ReadCaps(tx *postgres.Tx) *Caps {
	g := &Caps{}
	Guard(tx)
	tx.Queue(capsSQL, tx.Org()).QueryRow(g.scan)
	return g
}

// Guard queues the lock that ReadCaps takes. Statements that follow may rely on Uncapped until tx ends.
func Guard(tx *postgres.Tx) {
	tx.Queue(`SELECT pg_advisory_xact_lock_shared(`+lockKey+`)`, tx.Org().String())
}

// Uncapped is the SQL condition that no cap counts a one-to-one mail of the org $1.
const Uncapped = `NOT EXISTS (SELECT FROM org_sending s WHERE s.org_id = $1 AND s.daily_cap IS NOT NULL)`

func (g *Caps) scan(row pgx.Row) error {
	err := row.Scan(&g.daily, &g.domain, &g.room, &g.now)
	if postgres.None(err) {
		*g, err = Caps{domain: Defaults().DomainDailyCap}, nil
	}
	if err != nil {
		return fmt.Errorf("read caps: %w", err)
	}
	return nil
}

// Take decides within the transaction of a mark whether the caps allow one more mail now. It locks what a cap counts
// until the end of tx, so the caller must be quick, and must lock the row of the mail after it. If the slot is free and
// the mail is marked, the caller must call taken in the same transaction, and set marked_at of the mail to
// clock_timestamp().
func (g *Caps) Take(ctx context.Context, tx *postgres.Tx, m *Mail) (slot mailboxes.Slot, taken func(), err error) {
	taken = func() {}
	if g.daily != nil {
		if err := tx.QueryRow(ctx, capsSQL+" FOR NO KEY UPDATE", []any{tx.Org()}, &g.daily, &g.domain, &g.room,
			&g.now); err != nil {
			return slot, nil, fmt.Errorf("lock caps: %w", err)
		}
	}
	if g.daily != nil {
		if slot, taken, err = g.takeOrg(ctx, tx); err != nil || !slot.Free {
			return slot, nil, err
		}
	}
	if m.Automated && !m.Sandbox && g.domain != nil && !scoring.IsFreeDomain(m.Domain) {
		if slot, err = g.takeDomain(ctx, tx, m.Domain); err != nil || !slot.Free {
			return slot, nil, err
		}
	}
	return mailboxes.Slot{Free: true}, taken, nil
}

// countSQL counts the newest marks of the window, at most as many as the cap has, from those of each mailbox. Archived
// mailboxes count, too. It is a statement after the lock, whose snapshot is later.
const countSQL = `
SELECT count(*), min(marked_at) FROM (
	SELECT e.marked_at FROM mailbox m CROSS JOIN LATERAL (
		SELECT marked_at FROM email WHERE org_id = $1 AND mailbox_id = m.id AND marked_at > $2
		ORDER BY marked_at DESC LIMIT $3
	) e WHERE m.org_id = $1 ORDER BY e.marked_at DESC LIMIT $3
) newest`

// takeOrg decides by the cap of all mailboxes. It counts only if the last count does not allow one more.
func (g *Caps) takeOrg(ctx context.Context, tx *postgres.Tx) (mailboxes.Slot, func(), error) {
	room := 0
	if g.room != nil {
		room = *g.room
	}
	if room < 1 {
		var (
			n      int
			oldest *time.Time
		)
		if err := tx.QueryRow(ctx, countSQL, []any{tx.Org(), g.now.Add(-mailboxes.Window), *g.daily}, &n,
			&oldest); err != nil {
			return mailboxes.Slot{}, nil, fmt.Errorf("count marks: %w", err)
		}
		if n >= *g.daily {
			return mailboxes.Slot{Reason: ByCap, At: oldest.Add(mailboxes.Window)}, nil, nil
		}
		room = *g.daily - n
	}
	return mailboxes.Slot{Free: true}, func() {
		tx.Queue(`UPDATE org_sending SET cap_room = $2 WHERE org_id = $1`, tx.Org(), room-1)
	}, nil
}

// newestSQL reads the mark of the n-th newest automated mail to a domain.
const newestSQL = `
SELECT marked_at, clock_timestamp() FROM email
WHERE org_id = $1 AND to_domain = $2 AND automated AND marked_at IS NOT NULL
ORDER BY marked_at DESC OFFSET $3 LIMIT 1`

// takeDomain decides by the cap of automated mails to a domain. Their marks come one after the other.
func (g *Caps) takeDomain(ctx context.Context, tx *postgres.Tx, domain string) (mailboxes.Slot, error) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('email_domain ' || $1::text || ' ' || $2::text, 0))`,
		tx.Org().String(), domain)
	var oldest, now time.Time
	err := tx.QueryRow(ctx, newestSQL, []any{tx.Org(), domain, *g.domain - 1}, &oldest, &now)
	if postgres.None(err) {
		return mailboxes.Slot{Free: true}, nil
	}
	if err != nil {
		return mailboxes.Slot{}, fmt.Errorf("read marks of domain: %w", err)
	}
	if at := oldest.Add(mailboxes.Window); now.Before(at) {
		return mailboxes.Slot{Reason: ByDomain, At: at}, nil
	}
	return mailboxes.Slot{Free: true}, nil
}
