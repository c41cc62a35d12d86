package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/tracking"
)

// purgeContact also erases the contacts that were merged into this one, since they are the same person.
func (a *App) purgeContact(ctx context.Context, in *ContactID) (*noContact, error) {
	a.Requests.Flush(ctx)

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*noContact, error) {
		within, err := merge.Within(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}

		all := contacts.SortIDs(append(within, in.ID))
		if _, err := contacts.LockAll(ctx, tx, all, contacts.LiveAndArchived); err != nil {
			return nil, err
		}

		for _, one := range all {
			row, err := contacts.Get(ctx, tx, one, true)
			// It was restored, so it is a separate contact again.
			if one != in.ID && (err != nil || row.ArchivedAt == nil) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if err := a.suppressionService().Erase(ctx, tx, row.Email); err != nil {
				return nil, err
			}

			inbound.Erase(tx, one, row.Email)
			requestlog.Erase(tx, one, row.Email, orEmpty(row.Phone), row.FirstName, row.LastName)
			if err := eraseContact(ctx, tx, one); err != nil {
				return nil, err
			}
			if err := events.Announce(ctx, tx, events.ContactPurged{Purge: events.Purge{ID: one}}); err != nil {
				return nil, err
			}

			auditContact(ctx, tx, "contact.purged", one)
		}

		return &noContact{}, nil
	})
}

// auditContact writes an audit log entry for a contact. The log outlives the contact, so that the entry has nothing of
// the person but the contact's id.
func auditContact(ctx context.Context, tx *postgres.Tx, action string, contact id.ID) {
	org.Audit(ctx, tx, org.Entry{Action: action, Target: "contact", ID: contact.String()})
}

// eraseContact removes a contact from every table that holds its data. A test compares this function with the schema.
func eraseContact(ctx context.Context, tx *postgres.Tx, i id.ID) error {
	if err := contacts.Purge(ctx, tx, i); err != nil {
		return err
	}

	bulk.Erase(tx, i)
	merge.Erase(tx, i)
	models.Erase(tx, i)
	duplicates.Erase(tx, i)
	events.EraseTimeline(tx, i)
	eraseFiles(tx, i)
	deals.Erase(tx, i)
	activities.Erase(tx, i)
	outbox.Erase(tx, i)
	tracking.Erase(tx, i)
	emails.Erase(tx, i)
	states.Erase(tx, i)
	broadcasts.Erase(tx, i)
	tx.Queue(`DELETE FROM consent_request WHERE org_id = $1 AND contact_id = $2`, tx.Org(), i)

	return nil
}

// eraseFiles queues the statements that remove a contact from imports and exports: the undo data of imports, the source
// rows of ended imports, and the files of all ended exports, since any of these may contain the contact.
func eraseFiles(tx *postgres.Tx, i id.ID) {
	tx.Queue(`DELETE FROM contact_import_block b USING contact_import_effect e, contact_import m
		WHERE e.org_id = $1 AND e.contact_id = $2
		AND m.org_id = $1 AND m.id = e.import_id AND m.completed_at IS NOT NULL AND b.org_id = $1
		AND b.import_id = e.import_id`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact_import_effect WHERE org_id = $1 AND contact_id = $2`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact_export_part p USING contact_export x WHERE x.org_id = $1
		AND x.status = 'completed' AND p.org_id = $1 AND p.export_id = x.id`, tx.Org())
	tx.Queue(`UPDATE contact_export SET status = 'expired' WHERE org_id = $1 AND status = 'completed'`, tx.Org())
}

// contactDataExport is all data held on a contact.
type contactDataExport struct {
	contacts.Held
	Timeline     []timelineEntry           `json:"timeline" doc:"All events of the contact, oldest first"`
	Merges       []merge.Merge             `json:"merges" doc:"Merges in which it survived or was merged"`
	Deals        []deals.Deal              `json:"deals" doc:"Including archived ones, as are notes and tasks"`
	Emails       []shownEmail              `json:"emails" doc:"Emails to it with their content, oldest first"`
	Messages     []inbound.Message         `json:"messages" doc:"Mails from it, and reports about emails to it"`
	Facts        []tracking.Fact           `json:"email_facts" doc:"Opens, clicks and replies, oldest first"`
	Enrolments   []enrolments.Enrolment    `json:"enrolments" doc:"Its ways through sequences, oldest first"`
	Suppressions []suppression.Suppression `json:"suppressions" doc:"Of its address and domain, lifted ones too"`
	activities.About
}

type contactExport struct {
	Body contactDataExport
}

func (a *App) exportContact(ctx context.Context, in *ContactID) (*contactExport, error) {
	out := &contactExport{}
	err := a.DB.Tx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		if out.Body.Held, err = contacts.Export(ctx, tx, in.ID); err != nil {
			return err
		}

		entries, err := events.HeldTimeline(ctx, tx, in.ID)
		if err != nil {
			return err
		}

		out.Body.Timeline = make([]timelineEntry, len(entries))
		for i, e := range entries {
			out.Body.Timeline[i] = timelineEntry{e}
		}

		if out.Body.Merges, err = merge.Of(ctx, tx, in.ID); err != nil {
			return err
		}
		if out.Body.Deals, err = deals.Held(ctx, tx, in.ID); err != nil {
			return err
		}

		sent, err := emails.Held(ctx, tx, in.ID)
		if err != nil {
			return err
		}

		out.Body.Emails = make([]shownEmail, len(sent))
		for i, f := range sent {
			out.Body.Emails[i] = showEmail(f)
		}

		received, err := inbound.Held(ctx, tx, in.ID)
		if err != nil {
			return err
		}

		out.Body.Messages = make([]inbound.Message, len(received))
		for i := range received {
			out.Body.Messages[i] = received[i].Message
		}

		if out.Body.Enrolments, err = enrolments.Held(ctx, tx, in.ID); err != nil {
			return err
		}
		if out.Body.Suppressions, err = a.suppressionService().Held(ctx, tx, out.Body.Contact.Email); err != nil {
			return err
		}
		if out.Body.Facts, err = tracking.Held(ctx, tx, in.ID); err != nil {
			return err
		}

		out.Body.About, err = activities.Held(ctx, tx, in.ID)
		auditContact(ctx, tx, "contact.data_exported", in.ID)

		return err
	})
	return out, err
}

// orEmpty returns the text, or "" for nil.
func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
