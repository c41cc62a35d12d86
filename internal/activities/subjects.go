package activities

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Subjects are the members of a patch that name the subjects of a note or a task.
type Subjects struct {
	ContactID wire.Field[string]
	CompanyID wire.Field[string]
	DealID    wire.Field[string]
}

// about points to the subject fields of a record.
type about struct{ contact, company, deal **id.ID }

// there is the set of named contacts and deals that are live.
type there map[id.ID]bool

// findLive returns the named subjects that are live. It sends no query if no subject is named.
func (s *Subjects) findLive(ctx context.Context, tx *postgres.Tx) (there, error) {
	found, asks := there{}, false
	for table, in := range map[string]wire.Field[string]{"contact": s.ContactID, "deal": s.DealID} {
		i, err := id.Parse(in.Value)
		if err != nil {
			continue
		}
		asks = true
		tx.Queue(`SELECT id FROM `+table+` WHERE org_id = $1 AND id = $2 AND archived_at IS NULL`, tx.Org(),
			i).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&i}, func() error {
				found[i] = true
				return nil
			})
			return err
		})
	}
	if !asks {
		return found, nil
	}
	return found, tx.Flush(ctx)
}

// applySubjects applies the subjects to a record. A subject that the record already has need not be live any more.
func (s *Subjects) applySubjects(f *form.Form, at about, live there) {
	contact, deal := *at.contact, *at.deal
	f.ID("contact_id", s.ContactID, at.contact)
	f.ID("company_id", s.CompanyID, at.company)
	f.ID("deal_id", s.DealID, at.deal)
	if isMissing(*at.contact, contact, live) {
		f.Wrong("contact_id", "unknown_contact", "There is no such contact.")
	}
	if isMissing(*at.deal, deal, live) {
		f.Wrong("deal_id", "unknown_deal", "There is no such deal.")
	}
}

func isMissing(now, was *id.ID, live there) bool {
	return now != nil && !live[*now] && (was == nil || *was != *now)
}
