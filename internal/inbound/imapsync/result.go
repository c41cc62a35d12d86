package imapsync

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Result is what a run leaves to be written when its job ends. A nil Result writes nothing.
type Result struct {
	folder   *mailboxes.Folder
	failure  string
	silence  string // what the mailbox shows of a server that was silent; "": it has responded
	uncalled bool   // the server was not called
	stuck    uint32 // the mail that could not be read; 0: none
	more     bool   // there is more to read
	busy     bool   // the process had no memory for the mailbox, which says nothing about its server
}

// Write writes the result in tx.
func (r *Result) Write(ctx context.Context, tx *postgres.Tx) error {
	if r == nil {
		return nil
	}
	if r.busy { // the folder is read at its next time, as it was claimed
		return nil
	}
	f := r.folder
	if r.silence != "" {
		_, next, err := mailboxes.Silent(ctx, tx, f.Mailbox, mailboxes.Retrieval, r.silence)
		if err == nil {
			f.Ended(tx, r.failure, next)
		}
		return err
	}

	if !r.uncalled {
		mailboxes.Responded(tx, f.Mailbox, mailboxes.Retrieval)
	}
	switch {
	case r.stuck > 0:
		f.StuckAt(tx, r.stuck)
		f.Ended(tx, r.failure, time.Minute)
	case r.failure != "":
		f.Ended(tx, r.failure, delayAfter(r.failure, f.Failures+1))
	case r.more:
		f.Ended(tx, "", time.Millisecond)
	default:
		f.Ended(tx, "", 0)
	}

	return nil
}

// delayAfter returns how long a mailbox is not read after the given number of failed runs in a row. Servers lock
// accounts with too many refused sign-ins, so those are repeated rarely.
func delayAfter(failure string, failures int) time.Duration {
	n := min(failures-1, 10)
	switch failure {
	case mailboxes.AuthRefused:
		return min(time.Hour<<n, 24*time.Hour)
	case mailboxes.LoginNeeded: // no server is asked
		return 5 * time.Minute
	}
	return min(time.Minute<<n, 30*time.Minute)
}
