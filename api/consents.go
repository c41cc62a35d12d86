package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
)

const (
	consentsTag = "Consent"
	formBytes   = 16 << 10
)

// mountConsents mounts the request for a consent, and the pages that the links of mails lead to. A GET of a page never
// changes anything, since scanners of mails follow links.
func (a *App) mountConsents() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "contacts.request_consent",
		Method: http.MethodPost, Path: contactsPath + "/{id}/request-consent", Need: httpx.Member, Tag: consentsTag,
		Title: "Ask a contact by mail to confirm its consent", Status: http.StatusAccepted, Part: httpx.PartMail,
		Writes: []string{mailsystem.Kind.Name(), "contact.updated"},
	}, a.requestConsent)
	for _, page := range []linkPage{
		{
			noun: "unsubscription", path: templates.UnsubscribePath, purpose: templates.Unsubscribe,
			ask: unsubscribeQuestion, done: unsubscribed, act: a.unsubscribeContact,
			writes: []string{"contact.unsubscribed"},
			title:  "the page that ends mails", choice: true,
		},
		{
			noun: "subscription", path: templates.SubscribePath, purpose: templates.Subscribe,
			ask: subscribeQuestion, done: subscribed, act: a.confirmSubscription,
			writes: []string{"contact.subscribed", "contact.updated"}, title: "the page that confirms a consent",
		},
	} {
		a.mountLinkPage(page)
	}
}

type consentRequest struct{ Body requestedConsent }

type requestedConsent struct {
	Status string `json:"status" enum:"queued" doc:"The mail is going to be sent"`
}

// requestConsent stores that a consent was asked for, and sends the mail with the link that confirms it.
func (a *App) requestConsent(ctx context.Context, in *ContactID) (*consentRequest, error) {
	rate := a.scorer(ctx)
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*consentRequest, error) {
		row, err := contacts.Get(ctx, tx, in.ID, false)
		if err != nil {
			return nil, err
		}

		service := suppression.Service{Box: a.Box}
		keys, err := service.Keys(ctx, tx, row.Email)
		if err != nil {
			return nil, err
		}

		found, err := suppression.Find(ctx, tx, keys, false)
		if err != nil {
			return nil, err
		}
		if found != nil {
			return nil, fault.New(fault.Suppressed, "This address gets no mails: "+found.Reason+".")
		}
		if err := countConsentRequest(ctx, tx, in.ID); err != nil {
			return nil, err
		}

		if row.Consent == nil {
			p := contacts.Patch{Consent: wire.Some(contacts.ConsentPatch{
				Basis: wire.Some("consent"), Source: wire.Some("double opt-in"),
			})}
			ch, err := contacts.Update(ctx, tx, in.ID, nil, &p, rate)
			if err != nil {
				return nil, err
			}
			if err := announceUpdate(ctx, tx, &ch); err != nil {
				return nil, err
			}
		}

		return a.mailConsent(ctx, tx, in.ID, row.Email)
	})
}

func (a *App) mailConsent(ctx context.Context, tx *postgres.Tx, contact id.ID, to string) (*consentRequest, error) {
	pair, err := orgkey.Of(ctx, tx, a.Box)
	if err != nil {
		return nil, err
	}

	home, err := org.Read(ctx, tx)
	if err != nil {
		return nil, err
	}

	token := templates.Link{Org: tx.Org(), Contact: contact}.Token(pair.Org, templates.Subscribe)
	out := &consentRequest{}
	out.Body.Status = "queued"
	return out, a.enqueueMail(ctx, tx, mail.ConfirmConsent(to, home.Name, a.PublicURL+templates.SubscribePath+token))
}

// unsubscribeContact suppresses the address of the contact for marketing. The contact may be archived.
func (a *App) unsubscribeContact(ctx context.Context, tx *postgres.Tx, l templates.Link) error {
	row, err := contacts.Get(ctx, tx, l.Contact, true)
	if err != nil {
		return ignoreMissing(err)
	}

	service := suppression.Service{Box: a.Box}
	_, added, err := service.Add(ctx, tx, suppression.New{
		Email: row.Email, Purpose: suppression.Marketing, Reason: suppression.Unsubscribe, Source: "link",
	})
	if err != nil || !added {
		return err
	}

	return events.Announce(ctx, tx, events.ContactUnsubscribed{Contact: row.Contact})
}

// confirmSubscription records that the contact confirmed its consent. A second confirmation changes nothing.
func (a *App) confirmSubscription(ctx context.Context, tx *postgres.Tx, l templates.Link) error {
	row, err := contacts.Get(ctx, tx, l.Contact, false)
	if err != nil {
		return ignoreMissing(err)
	}

	service := suppression.Service{Box: a.Box}
	if err := service.Resubscribe(ctx, tx, row.Email); err != nil {
		return err
	}
	if row.Consent != nil && row.Consent.ConfirmedAt != nil {
		return nil
	}

	p := contacts.Patch{Consent: wire.Some(contacts.ConsentPatch{ConfirmedAt: wire.Some(wire.Now().String())})}
	if row.Consent == nil {
		p.Consent.Value.Basis = wire.Some("consent")
	}

	ch, err := contacts.Update(ctx, tx, l.Contact, nil, &p, a.Scores.For(ctx, l.Org).Rate)
	if err != nil {
		return err
	}
	if err := announceUpdate(ctx, tx, &ch); err != nil {
		return err
	}

	return events.Announce(ctx, tx, events.ContactSubscribed{Contact: ch.Contact})
}

// ignoreMissing returns nil for a not_found fault: a purged or archived contact gets no mail.
func ignoreMissing(err error) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code == fault.NotFound {
		return nil
	}
	return err
}
