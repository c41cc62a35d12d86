package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// inbox is the folder that is read.
const inbox = "INBOX"

// Reasons of a folder that could not be read, beside AuthRefused, ConnectFailed and LoginNeeded.
const (
	NotAllowed  = "not_allowed"     // its server must not be dialled
	ServerError = "server_error"    // the server refused a command, or what it returned could not be read
	Unreadable  = "mail_unreadable" // the next mail could not be read; it is tried again
)

// maxStuck is how often a mail is tried that cannot be read. Then it is skipped.
const maxStuck = 3

// Folder is how far a folder of a mailbox was read. Its writes take UIDs of the same UIDValidity.
type Folder struct {
	Mailbox              id.ID
	Name                 string
	UIDValidity, UIDNext uint32
	Stuck                int       // how often the mail UIDNext could not be read
	Failures             int       // runs that have failed in a row
	Since                time.Time // mails that arrived before are not read
	From                 string    // folded address of the mailbox
}

// rereads is how far back the mails are that a folder is first read from, or again when its UIDs have changed.
const rereads = 30 * 24 * time.Hour

// FolderOf returns the folder of a live mailbox of the org of tx. The error is a not_found fault if there is none.
func FolderOf(ctx context.Context, tx *postgres.Tx, mailbox id.ID) (*Folder, error) {
	f := &Folder{Mailbox: mailbox}
	var valid, next int64
	err := tx.QueryRow(ctx, `
		SELECT f.folder, f.uidvalidity, f.uidnext, CASE WHEN f.stuck_uid = f.uidnext THEN f.stuck ELSE 0 END,
			f.failures, greatest(m.created_at, now() - make_interval(secs => $3)), m.from_folded
		FROM mailbox_folder f JOIN mailbox m ON m.org_id = f.org_id AND m.id = f.mailbox_id
		WHERE f.org_id = $1 AND f.mailbox_id = $2 AND m.archived_at IS NULL`,
		[]any{tx.Org(), mailbox, rereads.Seconds()}, &f.Name, &valid, &next, &f.Stuck, &f.Failures, &f.Since, &f.From)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, absent)
	}
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}

	f.UIDValidity, f.UIDNext = uint32(valid), uint32(next)

	return f, nil
}

// Restart queues that the folder is read from uid on, by the UIDs of another UIDValidity.
func (f *Folder) Restart(tx *postgres.Tx, uidValidity, uid uint32) {
	f.UIDValidity, f.UIDNext, f.Stuck = uidValidity, uid, 0
	tx.Queue(`UPDATE mailbox_folder SET uidvalidity = $4, uidnext = $5, stuck = 0, stuck_uid = 0
		WHERE org_id = $1 AND mailbox_id = $2 AND folder = $3`, tx.Org(), f.Mailbox, f.Name, int64(uidValidity),
		int64(uid))
}

// Advance queues that the mails up to uid were taken, or skipped.
func (f *Folder) Advance(tx *postgres.Tx, uid uint32, skipped int) {
	tx.Queue(`UPDATE mailbox_folder SET uidnext = $5, stuck = 0, stuck_uid = 0, skipped = skipped + $6
		WHERE org_id = $1 AND mailbox_id = $2 AND folder = $3 AND uidvalidity = $4 AND uidnext <= $7`, tx.Org(),
		f.Mailbox, f.Name, int64(f.UIDValidity), int64(uid)+1, skipped, int64(uid))
}

// StuckAt queues that the mail uid could not be read. After maxStuck times it is skipped.
func (f *Folder) StuckAt(tx *postgres.Tx, uid uint32) {
	tx.Queue(`UPDATE mailbox_folder SET stuck = CASE WHEN stuck_uid = $5 THEN stuck + 1 ELSE 1 END, stuck_uid = $5,
			uidnext = $5
		WHERE org_id = $1 AND mailbox_id = $2 AND folder = $3 AND uidvalidity = $4 AND uidnext <= $5`, tx.Org(),
		f.Mailbox, f.Name, int64(f.UIDValidity), int64(uid))
	tx.Queue(`UPDATE mailbox_folder SET uidnext = stuck_uid + 1, stuck = 0, stuck_uid = 0, skipped = skipped + 1
		WHERE org_id = $1 AND mailbox_id = $2 AND folder = $3 AND uidvalidity = $4 AND stuck >= $5`, tx.Org(),
		f.Mailbox, f.Name, int64(f.UIDValidity), maxStuck)
}

// Ended queues the result of a run: why it failed, or "", and when the folder is read next. 0: when it would be anyway,
// since it was read to its end. A mailbox that is not read any more has no such folder.
func (f *Folder) Ended(tx *postgres.Tx, failure string, next time.Duration) {
	tx.Queue(`UPDATE mailbox_folder SET error = $4, failures = CASE WHEN $4 = '' THEN 0 ELSE failures + 1 END,
			synced_at = CASE WHEN $4 = '' AND $5 = 0 THEN now() ELSE synced_at END,
			next_sync_at = CASE WHEN $5 > 0 THEN now() + make_interval(secs => $5) ELSE next_sync_at END
		WHERE org_id = $1 AND mailbox_id = $2 AND folder = $3`, tx.Org(), f.Mailbox, f.Name, failure, next.Seconds())
}

// Folders of archived mailboxes are claimed once a day, and have no job.
const claimFoldersSQL = `
UPDATE mailbox_folder f SET next_sync_at = now()
	+ CASE WHEN due.live THEN interval '60 seconds' * (0.9 + 0.2 * random()) ELSE interval '1 day' END
FROM (
	SELECT f.org_id, f.mailbox_id, f.folder, m.archived_at IS NULL AS live
	FROM mailbox_folder f JOIN mailbox m ON m.org_id = f.org_id AND m.id = f.mailbox_id
	WHERE f.next_sync_at <= now() ORDER BY f.next_sync_at LIMIT $1 FOR UPDATE OF f SKIP LOCKED
) due
WHERE f.org_id = due.org_id AND f.mailbox_id = due.mailbox_id AND f.folder = due.folder
RETURNING f.org_id, f.mailbox_id, due.live`

// ClaimFolders returns at most limit mailboxes that are to be read, sorted by org. It does not return them again within
// the next minute.
func ClaimFolders(ctx context.Context, system *postgres.Tx, limit int) ([]Due, error) {
	rows, err := system.Query(ctx, `WITH claimed AS (`+claimFoldersSQL+`)
		SELECT org_id, mailbox_id FROM claimed WHERE live ORDER BY 1, 2`, limit)
	if err != nil {
		return nil, fmt.Errorf("claim folders: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Due])
	if err != nil {
		return nil, fmt.Errorf("claim folders: %w", err)
	}
	return all, nil
}

// isReadable reports whether the mailbox is read by IMAP.
func (m *stored) isReadable() bool {
	return m.imap.name != "" || m.Kind == Google || m.Kind == Microsoft
}

// openFolder queues that the mailbox is read from now on, or no longer. With again, its folder is read from the start.
func openFolder(tx *postgres.Tx, m *stored, again bool) {
	if again || !m.isReadable() {
		tx.Queue(`DELETE FROM mailbox_folder WHERE org_id = $1 AND mailbox_id = $2`, tx.Org(), m.ID)
	}
	if m.isReadable() {
		tx.Queue(`INSERT INTO mailbox_folder (org_id, mailbox_id, folder, next_sync_at) VALUES ($1, $2, $3, now())
			ON CONFLICT (org_id, mailbox_id, folder) DO UPDATE SET next_sync_at = now(), failures = 0`, tx.Org(),
			m.ID, inbox)
	}
}

// retryFolder queues that a folder that could not be read is read at once.
func retryFolder(tx *postgres.Tx, mailbox id.ID) {
	tx.Queue(`UPDATE mailbox_folder SET next_sync_at = now(), failures = 0
		WHERE org_id = $1 AND mailbox_id = $2 AND error <> ''`, tx.Org(), mailbox)
}
