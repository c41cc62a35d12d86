package broadcasts

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/templates"
)

// testUnsubscribe is the end of the address of the page that a test mail leads to, which ends no mail.
const testUnsubscribe = "preview"

// Test creates one-to-one emails with the mail of a broadcast to addresses of its authors, one for each variant and
// address, with the values of a contact; nil: of the first one of the audience. The caller adds their jobs.
func (s *Service) Test(ctx context.Context, tx *postgres.Tx, i id.ID, to []string, contact *id.ID, by string,
) (all []*emails.Full, err error) {
	row, err := Get(ctx, tx, i, false)
	if err != nil {
		return nil, err
	}
	b := &row.Value
	if b.MailboxID == nil {
		return nil, fault.Invalid("mailbox_id", "required", "A test needs a mailbox.")
	}

	mailbox, err := s.Emails.Mailboxes.ForSending(ctx, tx, *b.MailboxID)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Invalid("mailbox_id", "not_found", "There is no such mailbox any more.")
	}
	if err != nil {
		return nil, err
	}

	if contact, err = s.sampleContact(ctx, tx, b, contact); err != nil {
		return nil, err
	}

	mail, err := b.resolveTemplate(ctx, tx)
	if err != nil {
		return nil, err
	}

	settings, err := orgsending.Read(ctx, tx)
	if err != nil {
		return nil, err
	}

	if settings.PostalAddress != nil {
		mail = mail.withPostalAddress(*settings.PostalAddress)
	}
	sender := templates.Sender{Name: mailbox.FromName, SignatureHTML: mailbox.SignatureHTML}
	values, err := templates.Collect(ctx, tx, *contact, sender, s.Templates.PublicURL+templates.UnsubscribePath+
		testUnsubscribe)
	if err != nil {
		return nil, err
	}

	variants := []string{""}
	if len(mail.Variants) > 0 {
		variants = nil
		for _, v := range mail.Variants {
			variants = append(variants, v.Key)
		}
	}
	for _, variant := range variants {
		shown, err := templates.Again(mail.variantSource(variant), values, sender.SignatureHTML)
		if err != nil {
			return nil, templates.Fault(err)
		}
		for _, address := range to {
			full, err := s.Emails.Create(ctx, tx, &emails.New{
				Mailbox: mailbox, ToEmail: address, Purpose: emails.Personal, Subject: "[Test] " + shown.Subject,
				HTML: shown.HTML, Text: shown.Text, By: by,
			})
			if err != nil {
				return nil, err
			}
			all = append(all, full)
		}
	}

	return all, nil
}

// sampleContact returns the contact whose values a test has.
func (s *Service) sampleContact(ctx context.Context, tx *postgres.Tx, b *Broadcast, given *id.ID) (*id.ID, error) {
	if given != nil {
		_, err := contacts.Get(ctx, tx, *given, false)
		if fault.Is(err, fault.NotFound) {
			err = fault.Invalid("contact_id", "unknown_contact", "There is no such contact.")
		}
		return given, err
	}
	if b.Segment != nil || b.Filter != nil {
		r, err := s.newReader(ctx, tx, b, time.Now())
		if err != nil {
			return nil, err
		}
		for r.more = true; r.more; {
			all, err := r.readNext(ctx, tx)
			if err != nil {
				return nil, err
			}
			for _, m := range all {
				if m.reason == "" {
					return &m.id, nil
				}
			}
		}
	}

	return nil, fault.Invalid("contact_id", "required", "The audience is empty: name a contact for the values.")
}
