package inbound

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Thread is a conversation.
type Thread struct {
	ID            id.ID     `json:"id" format:"uuid" doc:"ID of the thread: that of its first email or message"`
	Subject       string    `json:"subject" doc:"Subject of its first mail"`
	ContactID     *id.ID    `json:"contact_id" format:"uuid" nullable:"true"`
	MailboxID     id.ID     `json:"mailbox_id" format:"uuid" doc:"Mailbox of its first mail"`
	MessageCount  int       `json:"message_count" doc:"Number of its messages, in both directions"`
	Unread        bool      `json:"unread"`
	LastMessageAt wire.Time `json:"last_message_at" format:"date-time" doc:"When its last message came in or went out"`
}

// Descriptions implements wire.Describer.
func (Thread) Descriptions() map[string]string {
	return map[string]string{
		"contact_id": "Contact of the thread; null: no contact has the address",
		"unread":     "Whether a person's message came in since the thread was marked as read",
	}
}

// ListedThread is a thread as a list has it.
type ListedThread struct {
	Thread
	ContactName *string `json:"contact_name" doc:"Name of the contact, or the email without one; null: no contact"`
}

// VersionedThread is a thread with the two parts of its ETag.
type VersionedThread struct {
	Thread
	Edit, Computed int

	incoming    wire.Time // of the last incoming message
	contactName *string
}

// Listed returns the thread as a list has it.
func (v VersionedThread) Listed() ListedThread { return ListedThread{v.Thread, v.contactName} }

// Filter narrows a list of threads. An empty field matches everything.
type Filter struct {
	Contact, Mailbox *id.ID
	Unread           *bool
}

const threadColumns = `t.id, t.subject, t.contact_id, t.mailbox_id, t.incoming + coalesce(o.n, 0), t.unread,
	greatest(t.last_message_at, o.last), t.edit, t.computed + coalesce(o.n, 0), t.last_message_at,
	(SELECT coalesce(nullif(btrim(c.first_name || ' ' || c.last_name), ''), c.email) FROM contact c
		WHERE c.org_id = $1 AND c.id = t.contact_id)`

// outgoing joins the threads t with what went out.
const outgoing = ` LEFT JOIN LATERAL (
	SELECT count(*)::int n, max(coalesce(e.sent_at, e.marked_at)) last
	FROM email e
	WHERE e.org_id = $1 AND e.thread_id = t.id AND e.marked_at IS NOT NULL
) o ON true`

const filterThreads = ` AND ($2::uuid IS NULL OR t.contact_id = $2) AND ($3::uuid IS NULL OR t.mailbox_id = $3)
	AND ($4::boolean IS NULL OR t.unread = $4)`

func scanThread(row pgx.CollectableRow) (v VersionedThread, err error) {
	t := &v.Thread
	err = row.Scan(&t.ID, &t.Subject, &t.ContactID, &t.MailboxID, &t.MessageCount, &t.Unread, &t.LastMessageAt, &v.Edit,
		&v.Computed, &v.incoming, &v.contactName)
	return v, err
}

// ThreadPosition returns the position of a thread in a list.
func ThreadPosition(v VersionedThread) record.Position {
	return record.Position{Key: v.incoming.String(), ID: v.ID}
}

// ListThreads returns at most limit threads with incoming messages, the one with the latest incoming message first.
func ListThreads(ctx context.Context, tx *postgres.Tx, f *Filter, after *record.Position, limit int) (
	[]VersionedThread, error,
) {
	tx.Queue(record.Planning)
	sql, args := threadsSQL(tx.Org(), f, after, limit)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanThread)
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	return all, nil
}

// threadsSQL returns the statement of ListThreads. What is joined is read for the threads of the page alone.
func threadsSQL(org id.ID, f *Filter, after *record.Position, limit int) (sql string, args []any) {
	const newestFirst = ` ORDER BY t.last_message_at DESC, t.id DESC`
	page := `SELECT * FROM thread t WHERE t.org_id = $1` + filterThreads
	args = []any{org, f.Contact, f.Mailbox, f.Unread, limit}
	if after != nil {
		page += ` AND (t.last_message_at, t.id) < ($6::timestamptz, $7)`
		args = append(args, after.Key, after.ID)
	}
	return `SELECT ` + threadColumns + ` FROM (` + page + newestFirst + ` LIMIT $5) t` + outgoing + newestFirst, args
}

// CountThreads returns the number of threads that f matches.
func CountThreads(ctx context.Context, tx *postgres.Tx, f *Filter) (n int64, err error) {
	tx.Queue(record.Planning)
	err = tx.QueryRow(ctx, `SELECT count(*) FROM thread t WHERE t.org_id = $1`+filterThreads,
		[]any{tx.Org(), f.Contact, f.Mailbox, f.Unread}, &n)
	if err != nil {
		return 0, fmt.Errorf("count threads: %w", err)
	}
	return n, nil
}

// maxShown is how many messages of a thread are shown, the latest ones.
const maxShown = 200

// GetThread returns a thread with its messages, oldest first. A thread of emails that nobody has answered is one, too.
// The error is a not_found fault if there is none.
func GetThread(ctx context.Context, tx *postgres.Tx, thread id.ID) (VersionedThread, []Message, error) {
	rows, err := tx.Query(ctx, `SELECT `+threadColumns+` FROM thread t`+outgoing+
		` WHERE t.org_id = $1 AND t.id = $2`, tx.Org(), thread)
	if err != nil {
		return VersionedThread{}, nil, fmt.Errorf("read thread: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanThread)
	if err != nil {
		return VersionedThread{}, nil, fmt.Errorf("read thread: %w", err)
	}

	sent, err := emails.OfThread(ctx, tx, thread, maxShown)
	if err != nil {
		return VersionedThread{}, nil, err
	}

	received, err := selectRows(ctx, tx, fmt.Sprintf(`thread_id = $2 ORDER BY id DESC LIMIT %d`, maxShown), thread)
	if err != nil {
		return VersionedThread{}, nil, err
	}

	all := make([]Message, 0, len(sent)+len(received))
	for _, f := range sent {
		all = append(all, Sent(f))
	}
	for i := range received {
		all = append(all, received[i].Message)
	}
	slices.SortStableFunc(all, func(a, b Message) int { return a.ReceivedAt.Compare(b.ReceivedAt.Time) })
	all = all[max(len(all)-maxShown, 0):]
	switch {
	case len(found) > 0:
		return found[0], all, nil
	case len(all) == 0:
		return VersionedThread{}, nil, fault.New(fault.NotFound, "There is no such thread.")
	}

	first, last := all[0], all[len(all)-1]

	return VersionedThread{Edit: 1, Computed: len(all), Thread: Thread{
		ID: thread, Subject: first.Subject, ContactID: first.ContactID, MailboxID: first.MailboxID,
		MessageCount: len(all), LastMessageAt: last.ReceivedAt,
	}}, all, nil
}

// Sent returns an email as a message of its thread.
func Sent(f *emails.Full) Message {
	m := Message{
		ID: f.ID, ThreadID: f.ThreadID, Direction: Out, MailboxID: f.MailboxID, ContactID: f.ContactID, EmailID: &f.ID,
		MessageID: &f.MessageID, To: []string{f.To}, Subject: f.Subject, Attachments: []Attachment{},
		ReceivedAt: f.CreatedAt,
	}
	if f.SentAt != nil {
		m.ReceivedAt = *f.SentAt
	} else if f.MarkedAt != nil {
		m.ReceivedAt = *f.MarkedAt
	}
	c := f.Content
	if c == nil {
		return m
	}

	m.From = c.From
	if c.HTML != nil {
		m.HTML = new(links.WithoutPixel(*c.HTML))
	}
	if c.Text != nil {
		m.Text, m.ReplyText = *c.Text, *c.Text
	}
	for _, a := range c.Attachments {
		m.Attachments = append(m.Attachments, Attachment(a))
	}

	return m
}

// MarkThread sets whether a thread has unread messages. check, which may be nil, refuses an edit.
func MarkThread(ctx context.Context, tx *postgres.Tx, thread id.ID, unread bool, check func(edit int64) error) error {
	var edit int
	err := tx.QueryRow(ctx, `SELECT edit FROM thread WHERE org_id = $1 AND id = $2 FOR UPDATE`,
		[]any{tx.Org(), thread}, &edit)
	if postgres.None(err) {
		return fault.New(fault.NotFound, "There is no such thread, or nobody has answered in it.")
	}
	if err != nil {
		return fmt.Errorf("lock thread: %w", err)
	}

	if check != nil {
		if err := check(int64(edit)); err != nil {
			return err
		}
	}
	tx.Queue(`UPDATE thread SET unread = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2 AND unread <> $3`, tx.Org(),
		thread, unread)

	return nil
}
