package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ServerSilent is the status_reason of an active mailbox with a server that cannot be reached or does not respond. It
// is also the reason of a Slot of an automated mail while that has lasted for silentHold.
const ServerSilent = "server_silent"

// Servers of a mailbox that may be silent.
const (
	Submission = "smtp"
	Retrieval  = "imap"
)

// silentHold is how long a server is silent before automated mail waits: no reply would be seen, or nothing is sent.
const silentHold = 15 * time.Minute

// silentAgain is when a mail that waits for a silent server is looked at again.
const silentAgain = time.Minute

// silence is what a mailbox shows of a server that is silent.
type silence struct {
	Server string    `json:"server"`
	Since  wire.Time `json:"since"`
	Detail string    `json:"detail"`
	NextAt wire.Time `json:"next_at"`
}

// Calls that fail together, before next_at, count once; but the second one always counts.
const silentSQL = `
INSERT INTO mailbox_silence AS s (org_id, mailbox_id, server, detail, next_at)
VALUES ($1, $2, $3, $4, now() + interval '1 minute')
ON CONFLICT (org_id, mailbox_id, server) DO UPDATE SET detail = excluded.detail,
	failures = s.failures + (s.failures = 1 OR s.next_at <= now())::int,
	next_at = CASE WHEN s.failures = 1 OR s.next_at <= now()
		THEN now() + least(interval '1 minute' * power(2, least(s.failures, 6)), interval '1 hour')
			* (0.9 + 0.1 * random()) ELSE s.next_at END
RETURNING s.failures, greatest(s.next_at - now(), interval '0')`

// Silent records that a server of a mailbox could not be reached or did not respond. It returns how often in a row, and
// when the server is to be called again: in a minute, then in twice the time with each failure, up to an hour.
func Silent(ctx context.Context, tx *postgres.Tx, mailbox id.ID, server, detail string) (failures int,
	again time.Duration, err error,
) {
	err = tx.QueryRow(ctx, silentSQL, []any{tx.Org(), mailbox, server, detail}, &failures, &again)
	if err != nil {
		return 0, 0, fmt.Errorf("record silence of server: %w", err)
	}
	return failures, again, nil
}

// Responded queues that a server of a mailbox has responded.
func Responded(tx *postgres.Tx, mailbox id.ID, server string) {
	tx.Queue(`DELETE FROM mailbox_silence WHERE org_id = $1 AND mailbox_id = $2 AND server = $3`, tx.Org(), mailbox,
		server)
}

// ServerResponded queues that the SMTP server of m has responded, if it was silent when m was read.
func ServerResponded(tx *postgres.Tx, m *Sending) {
	if m.silent {
		Responded(tx, m.ID, Submission)
	}
}

// WasSilent reports whether the SMTP server was silent when s was read.
func (s *Sending) WasSilent() bool { return s.silent }

// forgetSilence queues that the servers of m are called at once, as if they had never been silent.
func forgetSilence(tx *postgres.Tx, m *stored) {
	tx.Queue(`DELETE FROM mailbox_silence WHERE org_id = $1 AND mailbox_id = $2`, tx.Org(), m.ID)
	queue.CloseCircuit(tx, m.ID)
	retryFolder(tx, m.ID)
	if m.silence = nil; m.Sync != nil && m.Sync.Error != nil {
		now := wire.Now()
		m.Sync.NextAt = &now
	}
}
