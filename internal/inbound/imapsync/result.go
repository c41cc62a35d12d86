package imapsync

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Result is what a run leaves to be written when its job ends. A nil Result writes nothing.
type Result struct {
	folder  *mailboxes.Folder
	failure string
	stuck   uint32 // the mail that could not be read; 0: none
	more    bool   // there is more to read
}

// Write queues the result.
func (r *Result) Write(tx *postgres.Tx) {
	if r == nil {
		return
	}
	f := r.folder
	switch {
	case r.stuck > 0:
		f.StuckAt(tx, r.stuck)
		f.Ended(tx, r.failure, time.Minute)
	case r.failure != "":
		f.Ended(tx, r.failure, delay(r.failure, f.Failures+1))
	case r.more:
		f.Ended(tx, "", time.Millisecond)
	default:
		f.Ended(tx, "", 0)
	}
}

// delay returns how long a mailbox is not read after the given number of failed runs in a row. Servers lock accounts
// with too many refused sign-ins, so those are repeated rarely.
func delay(failure string, failures int) time.Duration {
	n := min(failures-1, 10)
	switch failure {
	case mailboxes.AuthRefused:
		return min(time.Hour<<n, 24*time.Hour)
	case mailboxes.LoginNeeded: // no server is asked
		return 5 * time.Minute
	}
	return min(time.Minute<<n, 30*time.Minute)
}
