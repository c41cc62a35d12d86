package emails

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Filter selects emails. Its zero value selects all.
type Filter struct {
	Status                                 []string
	Contact, Mailbox, Enrolment, Broadcast *id.ID
	SentAfter, SentBefore                  time.Time
}

// whereSQL returns the condition of f, whose first argument is the org.
func (f *Filter) whereSQL(org id.ID) (sql string, args []any) {
	sql, args = f.whereNotTimes(org)
	times, args := f.whereTimes(args)
	return sql + times, args
}

// whereTimes returns the condition on the time when an email was sent, and its arguments after those given.
func (f *Filter) whereTimes(args []any) (sql string, all []any) {
	if !f.SentAfter.IsZero() {
		args = append(args, f.SentAfter)
		sql += fmt.Sprintf(" AND sent_at > $%d", len(args))
	}
	if !f.SentBefore.IsZero() {
		args = append(args, f.SentBefore)
		sql += fmt.Sprintf(" AND sent_at < $%d", len(args))
	}
	return sql, args
}

// whereNotTimes is whereSQL without the condition of times.
func (f *Filter) whereNotTimes(org id.ID) (sql string, args []any) {
	args = []any{org}
	var b strings.Builder
	b.WriteString("org_id = $1")
	add := func(condition string, v any) {
		args = append(args, v)
		fmt.Fprintf(&b, " AND "+condition, len(args))
	}
	if len(f.Status) > 0 {
		add("status = ANY ($%d::text[])", f.Status)
	}
	for column, value := range map[string]*id.ID{
		"contact_id": f.Contact, "mailbox_id": f.Mailbox, "enrolment_id": f.Enrolment, "broadcast_id": f.Broadcast,
	} {
		if value != nil {
			add(column+" = $%d", *value)
		}
	}

	return b.String(), args
}

// Count returns the number of emails that f selects.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (n int64, err error) {
	where, args := f.whereSQL(tx.Org())
	tx.Queue(record.Planning)
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM email WHERE `+where, args, &n); err != nil {
		return 0, fmt.Errorf("count emails: %w", err)
	}
	return n, nil
}

// Get returns one email with its content.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (*Full, error) {
	rows, err := selectRows(ctx, tx, `id = ANY ($2::uuid[])`, []id.ID{i})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New(fault.NotFound, absent)
	}
	return WithContent(ctx, tx, rows[0])
}

// WithContent returns r with its content.
func WithContent(ctx context.Context, tx *postgres.Tx, r Row) (*Full, error) {
	out := &Full{Row: r}
	var c *content
	queueContent(tx, r.ID, &c)
	err := tx.Flush(ctx)
	if err != nil || c == nil {
		return out, err
	}
	out.Content = c.asShown(nil)
	if c.attachments == 0 {
		return out, nil
	}

	rows, err := tx.Query(ctx, `SELECT name, type, octet_length(content) FROM email_attachment
		WHERE org_id = $1 AND email_id = $2 ORDER BY n`, tx.Org(), r.ID)
	if err != nil {
		return nil, fmt.Errorf("list attachments: %w", err)
	}

	if out.Content.Attachments, err = pgx.CollectRows(rows, pgx.RowToStructByPos[AttachmentSummary]); err != nil {
		return nil, fmt.Errorf("list attachments: %w", err)
	}

	return out, nil
}

// Find returns the emails with the given ids, in no order. Ids of no email are left out.
func Find(ctx context.Context, tx *postgres.Tx, ids []id.ID) ([]Row, error) {
	return selectRows(ctx, tx, `id = ANY ($2::uuid[])`, ids)
}

// selectRows returns the emails of a condition, in which $2 is ids.
func selectRows(ctx context.Context, tx *postgres.Tx, where string, ids []id.ID) ([]Row, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM email WHERE org_id = $1 AND `+where, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read emails: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read emails: %w", err)
	}
	return found, nil
}
