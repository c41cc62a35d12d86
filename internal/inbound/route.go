package inbound

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Route is where the mail of an inbound address goes.
type Route struct{ Org, Mailbox id.ID }

// RouteOf returns the route of the token of an inbound address. The error is a not_found fault if there is none.
func (s *Service) RouteOf(ctx context.Context, token string) (Route, error) {
	unknown := fault.New(fault.NotFound, "There is no such inbound address.")
	org, hash, ok := mailboxes.ParseToken(token)
	if !ok {
		return Route{}, unknown
	}
	r := Route{Org: org}
	err := s.DB.ReadTx(ctx, r.Org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT id FROM mailbox WHERE org_id = $1 AND inbound_hash = $2 AND archived_at IS NULL`,
			[]any{tx.Org(), hash}, &r.Mailbox)
	})
	if postgres.None(err) {
		return r, unknown
	}
	if err != nil {
		return r, fmt.Errorf("find inbound address: %w", err)
	}
	return r, nil
}

// RouteOfEmail returns the route of the mail to an email's own address, of which the local part is given. The error is
// a not_found fault if there is no such email.
func (s *Service) RouteOfEmail(ctx context.Context, part string) (Route, error) {
	unknown := fault.New(fault.NotFound, "There is no such address.")
	org, _, ok := emails.Addressed(part)
	if !ok {
		return Route{}, unknown
	}
	r := Route{Org: org}
	err := s.DB.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		row, err := emails.ByAddress(ctx, tx, s.Box, part)
		if err == nil && row == nil {
			err = unknown
		}
		if err != nil {
			return err
		}
		r.Mailbox = row.MailboxID
		return nil
	})
	if err != nil {
		return Route{}, fmt.Errorf("find email by its address: %w", err)
	}
	return r, nil
}
