package enrolments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// UserOfMailbox is a sequence with open enrolments whose mails a mailbox sends.
type UserOfMailbox struct {
	ID   id.ID
	Name string
}

// UsersOfMailbox returns the sequences, active or paused ones, with open enrolments whose mails a mailbox sends.
func UsersOfMailbox(ctx context.Context, tx *postgres.Tx, mailbox id.ID) ([]UserOfMailbox, error) {
	rows, err := tx.Query(ctx, `SELECT q.id, q.name FROM sequence q WHERE q.org_id = $1
		AND q.status IN ('active', 'paused') AND q.archived_at IS NULL AND EXISTS (SELECT FROM enrolment n
			WHERE n.org_id = $1 AND n.mailbox_id = $2 AND n.sequence_id = q.id AND n.ended_at IS NULL)
		ORDER BY q.name_folded, q.id`, tx.Org(), mailbox)
	if err != nil {
		return nil, fmt.Errorf("find sequences of mailbox: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[UserOfMailbox])
	if err != nil {
		return nil, fmt.Errorf("find sequences of mailbox: %w", err)
	}
	return all, nil
}

// LockOfMailbox queues locking the open enrolments whose mails a mailbox sends, in the order of their ids.
func LockOfMailbox(tx *postgres.Tx, mailbox id.ID) {
	tx.Queue(`SELECT FROM enrolment WHERE org_id = $1 AND mailbox_id = $2 AND ended_at IS NULL ORDER BY id FOR UPDATE`,
		tx.Org(), mailbox)
}

// ReassignMailbox lets another mailbox send the mails of the open enrolments of a mailbox, and returns their number.
// Their steps stay due when they were.
func ReassignMailbox(ctx context.Context, tx *postgres.Tx, from, to id.ID) (int64, error) {
	rows, err := tx.Query(ctx, `SELECT id, sequence_id, schedule, zone, wake_at FROM send_group
		WHERE org_id = $1 AND mailbox_id = $2 ORDER BY id`, tx.Org(), from)
	if err != nil {
		return 0, fmt.Errorf("read groups of mailbox: %w", err)
	}

	var (
		was, becomes []int64
		wakes        []*time.Time
		one          int64
		g            states.Group
		wake         *time.Time
		groups       []states.Group
	)
	_, err = pgx.ForEachRow(rows, []any{&one, &g.Sequence, &g.Schedule, &g.Zone, &wake}, func() error {
		g.Mailbox = to
		g.Schedule = slices.Clone(g.Schedule)
		was, becomes = append(was, one), append(becomes, g.ID())
		groups, wakes = append(groups, g), append(wakes, wake)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read groups of mailbox: %w", err)
	}

	for i := range groups {
		tx.Queue(`INSERT INTO send_group (org_id, id, sequence_id, mailbox_id, schedule, zone)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`, tx.Org(), becomes[i], groups[i].Sequence, to,
			groups[i].Schedule, groups[i].Zone)
	}
	n, err := tx.Exec(ctx, `
		WITH moved (was, becomes) AS MATERIALIZED (SELECT * FROM unnest($4::bigint[], $5::bigint[]))
		UPDATE enrolment n SET mailbox_id = $3, grp = coalesce((SELECT becomes FROM moved WHERE was = n.grp), n.grp),
			next_grp = coalesce((SELECT becomes FROM moved WHERE was = n.next_grp), n.next_grp), edit = n.edit + 1
		WHERE n.org_id = $1 AND n.mailbox_id = $2 AND n.ended_at IS NULL`, tx.Org(), from, to, was, becomes)
	if err != nil {
		return 0, fmt.Errorf("reassign enrolments: %w", err)
	}

	for i, at := range wakes {
		if at != nil {
			states.Due(tx, becomes[i], *at)
		}
	}

	return n, nil
}
