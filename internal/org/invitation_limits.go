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
	orgInvitations = 50 // per org, including those of its clients' owners
	addressMails   = 3  // per address, across all orgs
)

// addressHash returns the hash that is stored of an invited address: the table belongs to no org.
func addressHash(folded string) []byte {
	sum := sha256.Sum256([]byte(folded))
	return sum[:]
}

// chargedTo is countInvitation in the org that the invitation counts against.
func chargedTo(ctx context.Context, tx *postgres.Tx, in Invitation, again bool) (mailed bool, err error) {
	payer := in.ChargedTo
	if payer.IsZero() {
		payer = tx.Org()
	}

	err = tx.In(ctx, payer, func() (err error) {
		mailed, err = countInvitation(ctx, tx, in, again)
		return err
	})
	return mailed, err
}

// countInvitation counts an invitation of tx's org to an address, and reports whether to mail it: addressMails are
// mailed and further ones withheld. Beyond orgInvitations an org gets fault.InvitationLimit. A request that neither
// creates an invitation nor sends a mail is not counted. The counts are rows under locks, so they are exact under
// concurrency.
func countInvitation(ctx context.Context, tx *postgres.Tx, in Invitation, again bool) (mailed bool, err error) {
	var (
		used   int
		oldest *time.Time
		now    time.Time
	)

	err = tx.QueryRow(ctx, `SELECT count(*), min(created_at), clock_timestamp() FROM invitation_count
		WHERE org_id = $1 AND created_at > clock_timestamp() - interval '24 hours'`, []any{tx.Org()}, &used, &oldest,
		&now)
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
		return false, f // also rolls back the mail's count
	}

	tx.Queue(`INSERT INTO invitation_count (org_id, id) VALUES ($1, $2)`, tx.Org(), id.New())

	return mailed, nil
}

// takeMail counts a mail to the address. It reports false if the address has reached its limit.
func takeMail(ctx context.Context, tx *postgres.Tx, folded string) (taken bool, err error) {
	err = tx.QueryRow(ctx, `SELECT take_invitation_mail($1, $2)`, []any{addressHash(folded), addressMails}, &taken)
	if err != nil {
		return false, fmt.Errorf("count invitation mails: %w", err)
	}
	return taken, nil
}

// Sweep deletes expired counts. tx runs as System.
func Sweep(tx *postgres.Tx) {
	tx.Queue(`DELETE FROM invitation_count WHERE created_at < now() - interval '1 day'`)
	tx.Queue(`DELETE FROM invitation_mail WHERE sent_at < now() - interval '1 day'`)
}
