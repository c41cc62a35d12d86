package broadcasts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Statuses of a broadcast.
const (
	Draft     = "draft"
	Scheduled = "scheduled"
	Preparing = "preparing"
	Sending   = "sending"
	Held      = "held" // shown in place of preparing and sending while its mailbox does not send
	Paused    = "paused"
	Sent      = "sent"
	Cancelled = "cancelled"
)

// Broadcast is a mail to an audience.
type Broadcast struct {
	ID          id.ID          `json:"id" format:"uuid" doc:"ID of the broadcast"`
	Name        string         `json:"name" doc:"Display name, 1 to 200 characters"`
	Status      string         `json:"status" enum:"draft,scheduled,preparing,sending,held,paused,sent,cancelled"`
	MailboxID   *id.ID         `json:"mailbox_id" format:"uuid" nullable:"true" doc:"Mailbox it is sent from"`
	Segment     *id.ID         `json:"segment" format:"uuid" nullable:"true" doc:"Segment that gets it"`
	Filter      map[string]any `json:"filter" nullable:"true" doc:"Filter of who gets it; null: segment says who"`
	Email       BroadcastMail  `json:"email" doc:"What is sent, with its variants"`
	SendAt      *wire.Time     `json:"send_at" format:"date-time" doc:"When it is sent; null: it is not scheduled"`
	LocalTime   bool           `json:"local_time"`
	Total       int            `json:"total" doc:"Contacts of the audience that were looked at so far"`
	Sendable    int            `json:"sendable" doc:"Contacts among them that get the mail"`
	LeftOut     map[string]int `json:"left_out" doc:"Contacts among them that do not, by reason"`
	CreatedAt   wire.Time      `json:"created_at" format:"date-time" doc:"When it was created"`
	UpdatedAt   wire.Time      `json:"updated_at" format:"date-time" doc:"When a person last changed it"`
	CompletedAt *wire.Time     `json:"completed_at" format:"date-time" doc:"When its last email was settled, or null"`
	ArchivedAt  *wire.Time     `json:"archived_at" format:"date-time" doc:"When it was archived; null: it is listed"`

	Computed int `json:"-"`
	resumes  string
	run      int
}

// Descriptions implements wire.Describer.
func (Broadcast) Descriptions() map[string]string {
	return map[string]string{
		"status": "draft and scheduled: it can be changed; preparing: its audience is being frozen; sending; held: " +
			"its " +
			"mailbox does not send, and it goes on by itself once it does; paused: nothing of it is sent; sent: " +
			"every " +
			"email is settled; cancelled: stopped for good",
		"local_time": "Whether each contact gets it when the clock of its time zone shows what that of the " +
			"organization shows at send_at",
	}
}

// BroadcastMail is the mail of a broadcast, as people write it.
type BroadcastMail struct {
	Subject    string          `json:"subject" doc:"Subject with merge fields; empty: that of the template"`
	HTML       string          `json:"html" doc:"HTML with merge fields; empty: that of the template"`
	Text       string          `json:"text" doc:"Text part with merge fields; empty: it is made from html"`
	TemplateID *id.ID          `json:"template_id" format:"uuid" nullable:"true" doc:"Template of its parts"`
	Variants   []steps.Variant `json:"variants" nullable:"false" maxItems:"5" doc:"Versions that are compared"`
}

// Row is a broadcast with its edit counter.
type Row = record.Row[Broadcast]

// Change is the result of a change to a broadcast.
type Change = record.Change[Broadcast]

var table = record.Table[Broadcast]{
	Name: "broadcast", Absent: "There is no such broadcast.",
	Columns: `id, name, status, mailbox_id, segment, filter, mail, send_at, local_time, total, sendable, left_out,
		created_at, updated_at, completed_at, archived_at, computed, resumes, run`,
	Scan: func(b *Broadcast) []any {
		return []any{
			&b.ID, &b.Name, &b.Status, &b.MailboxID, &b.Segment, &b.Filter, &b.Email, &b.SendAt, &b.LocalTime, &b.Total,
			&b.Sendable, &b.LeftOut, &b.CreatedAt, &b.UpdatedAt, &b.CompletedAt, &b.ArchivedAt, &b.Computed, &b.resumes,
			&b.run,
		}
	},
	Stamps: func(b *Broadcast) (*wire.Time, **wire.Time) { return &b.UpdatedAt, &b.ArchivedAt },
}

// Get returns one broadcast of the org. An archived one is returned only with archivedToo. If there is no such
// broadcast, the error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	return table.Get(ctx, tx, i, archivedToo)
}

// Create creates a draft from p. An invalid p is a validation fault. by is the person, "user/<id>".
func Create(ctx context.Context, tx *postgres.Tx, p *Patch, by string) (Row, error) {
	b, err := p.buildBroadcast(ctx, tx, wire.Now())
	if err != nil {
		return Row{}, err
	}
	mail, filter, err := b.encodeStored()
	if err != nil {
		return Row{}, err
	}

	tx.Queue(`INSERT INTO broadcast (org_id, id, name, mailbox_id, segment, filter, mail, send_at, local_time, status,
			created_by, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`, tx.Org(), b.ID, b.Name, b.MailboxID,
		b.Segment, filter, mail, b.SendAt, b.LocalTime, b.Status, by, b.CreatedAt)

	return Row{Value: b, Edit: 1}, nil
}

// encodeStored returns the stored form of the mail and of the filter.
func (b *Broadcast) encodeStored() (mail string, filter *string, err error) {
	m, err := json.Marshal(b.Email)
	if err == nil && b.Filter != nil {
		var f []byte
		f, err = json.Marshal(b.Filter)
		filter = new(string(f))
	}
	if err != nil {
		return "", nil, fmt.Errorf("encode broadcast: %w", err)
	}
	return string(m), filter, nil
}

// startedFault is the fault of a change that comes too late.
func startedFault(detail string) error { return fault.New(fault.AlreadyStarted, detail) }

// updateEditable applies p to a broadcast that is a draft or scheduled. Otherwise the error is an already_started
// fault.
func updateEditable(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *Patch) (Change, error) {
	Lock(tx, i)
	ch, err := table.Update(ctx, tx, i, match, func(was, now *Broadcast) error {
		return p.applyTo(ctx, tx, was, now)
	})
	if err != nil || !ch.Changed() {
		return ch, err
	}
	b := &ch.Value
	if b.Status != Draft && b.Status != Scheduled {
		return ch, startedFault("Only a draft or a scheduled broadcast can be changed.")
	}

	mail, filter, err := b.encodeStored()
	if err != nil {
		return ch, err
	}

	tx.Queue(`UPDATE broadcast SET name = $3, mailbox_id = $4, segment = $5, filter = $6, mail = $7, send_at = $8,
			local_time = $9, updated_at = $10, edit = edit + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), b.ID, b.Name, b.MailboxID, b.Segment, filter, mail, b.SendAt,
		b.LocalTime, b.UpdatedAt)

	return ch, nil
}

// Archive hides a broadcast that nothing is under way of. Otherwise the error is an already_started fault.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (Change, error) {
	Lock(tx, i)
	row, err := table.Lock(ctx, tx, i, true)
	if err != nil {
		return Change{}, err
	}
	switch row.Value.Status {
	case Draft, Sent, Cancelled:
		return table.Archive(ctx, tx, i, match)
	default:
		return Change{}, startedFault("The broadcast is under way. Cancel it first.")
	}
}

// Restore undoes Archive.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	ch, _, err := table.Restore(ctx, tx, i)
	return ch, err
}

var newest = record.Order[Broadcast]{
	Column: "created_at", Type: "timestamptz", Down: true,
	Key: func(b *Broadcast) string { return b.CreatedAt.String() },
}

// List returns at most limit broadcasts, newest first, after a position.
func List(ctx context.Context, tx *postgres.Tx, archived bool, status string, after *record.Position, limit int) ([]Row,
	error,
) {
	return table.List(ctx, tx, listQuery(tx, archived, status), newest, after, limit)
}

func listQuery(tx *postgres.Tx, archived bool, status string) *record.Query {
	q := record.Where(tx.Org(), archived)
	switch status {
	case "":
	case Held:
		q.And("status IN ('preparing', 'sending') AND " + senderStopped)
	case Preparing, Sending:
		q.And("status = " + q.Arg(status) + " AND NOT " + senderStopped)
	default:
		q.And("status = " + q.Arg(status))
	}
	return q
}

// Position returns the position of a broadcast in a list.
func Position(r *Row) record.Position { return newest.Position(&r.Value, r.Value.ID) }

// Count returns the number of broadcasts.
func Count(ctx context.Context, tx *postgres.Tx, archived bool, status string) (int64, error) {
	return table.Count(ctx, tx, listQuery(tx, archived, status))
}
