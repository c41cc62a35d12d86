package removal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences"
)

// Service deletes mailboxes. It is safe for concurrent use.
type Service struct {
	Emails *emails.Service
	// Send adds the job of an email that another mailbox sends now; at may be zero: at once.
	Send func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID, automated bool, at time.Time) error
}

// Moved is what another mailbox took over.
type Moved struct {
	Enrolments int64 `json:"enrolments"`
	Broadcasts int64 `json:"broadcasts"`
	Emails     int   `json:"emails"`
}

// Remove archives a mailbox and reports whether it was live. One that is in use is an in_use fault, unless to names an
// active mailbox, which takes over what is to be sent; another to is a mailbox_not_active fault. With to, it also takes
// over what an archived mailbox has left.
func (s *Service) Remove(ctx context.Context, tx *postgres.Tx, mailbox id.ID, to *id.ID, match record.Match) (
	changed bool, moved Moved, err error,
) {
	if to != nil {
		if err := broadcasts.LockOfMailbox(ctx, tx, mailbox); err != nil {
			return false, moved, err
		}
		sequences.LockOfMailbox(tx, mailbox)
		enrolments.LockOfMailbox(tx, mailbox)
	}
	mailboxes.LockRemoval(tx, mailbox)
	if changed, err = s.Emails.Mailboxes.Archive(ctx, tx, mailbox, match); err != nil {
		return false, moved, err
	}

	if to == nil {
		if !changed {
			return false, moved, nil
		}
		return changed, moved, checkUnused(ctx, tx, mailbox)
	}
	moved, err = s.reassign(ctx, tx, mailbox, *to)

	return changed, moved, err
}

// reassign lets another mailbox take over what an archived one has to send.
func (s *Service) reassign(ctx context.Context, tx *postgres.Tx, mailbox, to id.ID) (m Moved, err error) {
	sending, err := s.Emails.Mailboxes.Successor(ctx, tx, mailbox, to)
	if err != nil {
		return m, err
	}

	sequences.ReassignMailbox(tx, mailbox, to)
	if m.Broadcasts, err = broadcasts.ReassignMailbox(ctx, tx, mailbox, to); err != nil {
		return m, err
	}
	if m.Enrolments, err = enrolments.ReassignMailbox(ctx, tx, mailbox, to); err != nil {
		return m, err
	}

	moved, err := s.Emails.ReassignMailbox(ctx, tx, mailbox, sending)
	if err != nil {
		return m, err
	}
	for _, e := range moved {
		var at time.Time
		if e.ScheduledAt != nil {
			at = e.ScheduledAt.Time
		}
		if err := s.Send(ctx, tx, e.Email, to, e.Automated, at); err != nil {
			return m, err
		}
	}

	m.Emails = len(moved)
	mailboxes.SetSuccessor(tx, mailbox, to)

	return m, nil
}

// User is what uses a mailbox.
type User struct {
	Kind string `json:"kind"` // sequence, broadcast or email
	ID   id.ID  `json:"id"`
	Name string `json:"name"` // of an email: its subject
}

// mostEmails is how many emails an in_use fault lists.
const mostEmails = 50

// checkUnused returns an in_use fault that names what uses a mailbox.
func checkUnused(ctx context.Context, tx *postgres.Tx, mailbox id.ID) error {
	sequenced, err := enrolments.UsersOfMailbox(ctx, tx, mailbox)
	if err != nil {
		return err
	}
	broadcast, err := broadcasts.UsersOfMailbox(ctx, tx, mailbox)
	if err != nil {
		return err
	}
	written, unsent, err := emails.UsersOfMailbox(ctx, tx, mailbox, mostEmails)
	if err != nil {
		return err
	}
	if len(sequenced)+len(broadcast)+unsent == 0 {
		return nil
	}

	users := make([]User, 0, len(sequenced)+len(broadcast)+len(written))
	for _, u := range sequenced {
		users = append(users, User{"sequence", u.ID, u.Name})
	}
	for _, u := range broadcast {
		users = append(users, User{"broadcast", u.ID, u.Name})
	}
	for _, u := range written {
		users = append(users, User{"email", u.ID, u.Subject})
	}
	f := fault.Newf(fault.InUse, "The mailbox is in use: %s. Name another mailbox in reassign_to, or end them first.",
		listUse(len(sequenced), len(broadcast), unsent))
	f.More = map[string]any{"used_by": users}

	return f
}

// listUse says how much of each kind there is.
func listUse(sequenced, broadcast, unsent int) string {
	var parts []string
	for _, p := range []struct {
		n    int
		one  string
		many string
	}{
		{sequenced, "sequence with open enrolments", "sequences with open enrolments"},
		{broadcast, "unfinished broadcast", "unfinished broadcasts"},
		{unsent, "unsent mail", "unsent mails"},
	} {
		switch p.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+p.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.many))
		}
	}
	return strings.Join(parts, ", ")
}
