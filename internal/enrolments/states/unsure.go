package states

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ReplyUnsure is the reason of an enrolment that is paused since it is in doubt what an incoming mail is.
const ReplyUnsure = "reply_unsure"

// Unsure pauses the open enrolments of the contact and of the email until it is settled what the mail is. A pause that
// would end by itself ends no more.
func (r *Reply) Unsure(ctx context.Context, tx *postgres.Tx) error {
	_, err := Move(ctx, tx, To{State: Paused, Reason: ReplyUnsure},
		Cause{Text: ReplyUnsure, Email: r.Email, Message: r.messageID()},
		`(n.contact_id = $8::uuid AND n.started_at IS NOT NULL OR n.id = $9::uuid) AND (n.state IN ('pending', 'active',
			'sending') OR n.state = 'paused' AND n.resume_at IS NOT NULL)`, r.Contact, r.Enrolment)
	return err
}

// Settle lets the enrolments go on that Unsure has paused, unless what the mail is has ended or paused them anew.
func (r *Reply) Settle(ctx context.Context, tx *postgres.Tx) error {
	// The earlier one of the two clocks: Postgres's may be ahead and be set back.
	rows, err := tx.Query(ctx, `UPDATE enrolment SET resume_at = least(clock_timestamp(), $5)
		WHERE org_id = $1 AND (contact_id = $2::uuid OR id = $3::uuid) AND state = 'paused' AND reason = $4
		RETURNING grp, resume_at`, tx.Org(), r.Contact, r.Enrolment, ReplyUnsure, time.Now())
	if err != nil {
		return fmt.Errorf("resume enrolments: %w", err)
	}
	groups, err := pgx.CollectRows(rows, pgx.RowToStructByPos[dueGroup])
	if err != nil {
		return fmt.Errorf("resume enrolments: %w", err)
	}
	for _, g := range groups {
		Due(tx, g.ID, g.At)
	}
	return nil
}
