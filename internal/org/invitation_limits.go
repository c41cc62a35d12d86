package org

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The limits of invitations, each over the last 24 hours.
const (
	orgInvitations = 50 // of one org, those of its clients' owners included
	addressMails   = 3  // to one address, over all orgs
)

// addressHash is what is kept of an address that was invited: the table is no org's.
func addressHash(folded string) []byte {
	sum := sha256.Sum256([]byte(folded))
	return sum[:]
}

// chargedTo is charge in the org that the invitation counts for.
func chargedTo(ctx context.Context, tx *postgres.Tx, in Invitation, again bool) (mailed bool, err error) {
	payer := in.ChargedTo
	if payer.IsZero() {
		payer = tx.Org()
	}
	err = tx.In(ctx, payer, func() (err error) {
		mailed, err = charge(ctx, tx, in, again)
		return err
	})
	return mailed, err
}

// charge counts an invitation of tx's org to an address, and reports whether it may be mailed: addressMails are, and
// a further one is withheld. An org's next invitation after orgInvitations is fault.InvitationLimit. What neither makes an
// invitation nor sends a mail counts for nothing. The counts are rows under locks, so that they hold exactly in races.
func charge(ctx context.Context, tx *postgres.Tx, in Invitation, again bool) (mailed bool, err error) {
	var (
		used   int
		oldest *time.Time
		now    time.Time
	)
	err = tx.QueryRow(ctx, `SELECT count(*), min(created_at), clock_timestamp() FROM invitation_count
		WHERE org_id = $1 AND created_at > clock_timestamp() - interval '24 hours'`, []any{tx.Org()}, &used, &oldest, &now)
	if err != nil {
		return false, fmt.Errorf("count invitations: %w", err)
	}
	if in.Unmailed {
		mailed = true
	} else if mailed, err = takeMail(ctx, tx, in.Folded); err != nil {
		return false, err
	}
	if again && (in.Unmailed || !mailed) {
		return mailed, nil
	}
	if used >= orgInvitations {
		f := fault.Newf(fault.InvitationLimit, "An organization invites at most %d times in 24 hours.", orgInvitations)
		f.RetryAfter = max(oldest.Add(24*time.Hour).Sub(now), time.Second)
		return false, f // which undoes the mail's count, too
	}
	tx.Queue(`INSERT INTO invitation_count (org_id, id) VALUES ($1, $2)`, tx.Org(), id.New())
	return mailed, nil
}

// takeMail counts a mail to the address, and reports false where it has got all that it gets.
func takeMail(ctx context.Context, tx *postgres.Tx, folded string) (taken bool, err error) {
	err = tx.QueryRow(ctx, `SELECT take_invitation_mail($1, $2)`, []any{addressHash(folded), addressMails}, &taken)
	if err != nil {
		return false, fmt.Errorf("count invitation mails: %w", err)
	}
	return taken, nil
}

// Sweep deletes the counts that are over, in tx, which runs as System.
func Sweep(tx *postgres.Tx) {
	tx.Queue(`DELETE FROM invitation_count WHERE created_at < now() - interval '1 day'`)
	tx.Queue(`DELETE FROM invitation_mail WHERE sent_at < now() - interval '1 day'`)
}
