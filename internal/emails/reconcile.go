package emails

import (
	"context"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// BetweenSearches is the time between the mark and the first search of a Sent folder, and between two searches: by then
// a slow server has filed what it accepted, and a stopped run meets a closed connection.
const BetweenSearches = 15 * time.Minute

// Doubtful is an unknown email, for its reconciliation. It returns nil if the email is not unknown any more.
func Doubtful(ctx context.Context, tx *postgres.Tx, i id.ID) (*Row, error) {
	rows, err := selectRows(ctx, tx, `id = ANY ($2::uuid[]) AND status = 'unknown'`, []id.ID{i})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// NextSearch returns when the Sent folder may be searched for the email, and whether a search that finds nothing is the
// last one.
func (r *Row) NextSearch() (at time.Time, last bool) {
	searches := r.sentFolderSearches()
	if len(searches) > 0 {
		return searches[len(searches)-1].At.Add(BetweenSearches), true
	}
	if r.MarkedAt == nil {
		return time.Time{}, false
	}
	return r.MarkedAt.Add(BetweenSearches), false
}

func (r *Row) sentFolderSearches() []Evidence {
	return slices.DeleteFunc(slices.Clone(r.Evidence), func(v Evidence) bool { return v.Kind != SentFolder })
}

// Searched records a search in the Sent folder of the email's mailbox. A mail that was found is sent. A mail that was
// absent twice was not sent, if proves reports that the folder has whatever the mailbox sends: the email is planned
// again, and resend is true; the caller enqueues its job. Searched changes nothing if the email is not unknown any
// more.
func Searched(ctx context.Context, tx *postgres.Tx, i id.ID, found, proves bool) (resend bool, err error) {
	r, err := lockEmail(ctx, tx, i)
	if err != nil || r.Status != Unknown {
		return false, err
	}
	_, last := r.NextSearch()
	v := Evidence{Kind: SentFolder, Result: Absent, At: wire.Now()}
	if found {
		v.Result = Found
	}
	r.Evidence = append(r.Evidence, v)
	r.Computed++
	switch {
	case found:
		r.Status, r.StatusReason, r.SentAt = Sent, nil, r.MarkedAt
	case last && proves:
		r.Status, r.StatusReason = Planned, nil
		tx.Queue(`UPDATE email SET marked_at = NULL, due_at = greatest(due_at, clock_timestamp())
			WHERE org_id = $1 AND id = $2`, tx.Org(), i)
	}
	if err := recordOutcome(ctx, tx, &r); err != nil {
		return false, err
	}

	if last && r.Status == Unknown {
		return false, r.goOn(ctx, tx, time.Now(), Unknown)
	}

	return r.Status == Planned, nil
}

// GiveUp records that no evidence is to be had about an unknown email: its enrolment goes on as if it was sent.
func GiveUp(ctx context.Context, tx *postgres.Tx, i id.ID) error {
	r, err := lockEmail(ctx, tx, i)
	if err != nil || r.Status != Unknown {
		return err
	}
	return r.goOn(ctx, tx, time.Now(), Unknown)
}
