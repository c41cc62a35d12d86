package imapsync

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// readNewMails takes the new mails of the folder, and reports whether some are left for the next run.
func (r *run) readNewMails(ctx context.Context) (more bool, err error) {
	uids, err := r.conn.From(r.folder.UIDNext)
	if err != nil {
		return false, err
	}
	size := chunk
	if r.folder.Stuck > 0 {
		size = 1
	}
	for some := range slices.Chunk(uids, size) {
		if more = r.hasDoneEnough(); more {
			break
		}
		if more, err = r.readConsecutive(ctx, some); err != nil || more {
			break
		}
	}

	return more, errors.Join(err, r.recordPassed(ctx))
}

// recordPassed commits that mails were passed over.
func (r *run) recordPassed(ctx context.Context) error {
	if r.passed == 0 {
		return nil
	}
	return r.inTx(ctx, func(tx *postgres.Tx) error {
		r.folder.Advance(tx, r.passed, 0)
		return nil
	})
}

// readConsecutive takes mails that follow each other. A mail that was deleted meanwhile has no summary.
func (r *run) readConsecutive(ctx context.Context, uids []uint32) (more bool, err error) {
	summaries, err := r.conn.Summaries(uids)
	if err != nil {
		return false, &stuckError{err, uids[0]}
	}
	for _, m := range summaries {
		if !slices.Contains(uids, m.UID) {
			continue
		}
		if r.hasDoneEnough() {
			return true, nil
		}
		r.looked++
		if err := r.readMail(ctx, m); err != nil {
			return false, err
		}
	}
	r.passed = max(r.passed, uids[len(uids)-1])

	return false, nil
}

// readMail takes a mail, passes it over, or skips it.
func (r *run) readMail(ctx context.Context, m imap.Summary) error {
	switch {
	case m.Draft, !m.At.IsZero() && m.At.Before(r.folder.Since.Add(-time.Hour)):
		r.passed = m.UID
		return nil
	case m.Size > parse.MaxReceived:
		r.Log.DebugContext(ctx, "mail skipped: it is too large", "mailbox_id", r.folder.Mailbox.String(), "uid", m.UID)
		return r.inTx(ctx, func(tx *postgres.Tx) error {
			r.folder.Advance(tx, m.UID, 1)
			return nil
		})
	}
	header, err := r.conn.Header(m.UID, "From", "Message-ID", "Date", "Subject")
	if err != nil {
		return &stuckError{err, m.UID}
	}

	taken, err := r.isKnown(ctx, header)
	if err != nil {
		return err
	}

	if taken {
		r.passed = m.UID
		return nil
	}

	raw, err := r.fetchMail(m)
	if err != nil {
		return &stuckError{err, m.UID}
	}

	r.bytes += int(max(m.Size, int64(len(raw))))
	at := wire.Now()
	if !m.At.IsZero() && m.At.Before(at.Time) {
		at = wire.At(m.At)
	}

	return r.inTx(ctx, func(tx *postgres.Tx) error {
		r.folder.Advance(tx, m.UID, 0)
		_, _, err := r.Inbound.Take(ctx, tx, r.folder.Mailbox, raw, inbound.IMAP, at)
		return err
	})
}

// fetchMail returns a mail; a large one is reduced as it arrives.
func (r *run) fetchMail(m imap.Summary) ([]byte, error) {
	if m.Size <= parse.MaxBytes {
		return r.conn.Mail(m.UID, parse.MaxBytes)
	}
	return r.conn.ReducedMail(m.UID, parse.MaxReceived, parse.MostHeld, parse.Reduce)
}

// isKnown reports whether a mail is of no interest: the mailbox itself has sent it, or it was taken already.
func (r *run) isKnown(ctx context.Context, header []byte) (known bool, err error) {
	m := parse.Parse(header)
	if folded, _ := compare.SplitAddress(m.From.Email); m.From.Email != "" && folded == r.folder.From {
		return true, nil
	}
	err = r.DB.ReadTx(ctx, r.org, func(tx *postgres.Tx) (err error) {
		known, err = r.Inbound.Has(ctx, tx, r.folder.Mailbox, header)
		return err
	})
	if err != nil {
		return false, databaseError{err}
	}
	return known, nil
}
