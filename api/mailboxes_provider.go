package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/provider"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// eventsBytes is the maximum size of a provider's request.
const eventsBytes = 4 << 20

// fetchTime limits the time that a certificate of a provider takes.
const fetchTime = 5 * time.Second

// newProviders returns a reader of the requests of providers, which fetches certificates from public addresses.
func newProviders() *provider.Reader {
	client := outbound.New(outbound.Options{Timeout: fetchTime})
	return provider.NewReader(func(ctx context.Context, url string) ([]byte, error) {
		switch a := client.Get(ctx, url); {
		case a.Err != nil:
			return nil, a.Err
		case a.Status != http.StatusOK:
			return nil, fmt.Errorf("%s answered %d", url, a.Status)
		default:
			return a.Body, nil
		}
	})
}

func (a *App) mountProviders(tag, one string) {
	path := one + "/provider"
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.get_provider",
		Method: http.MethodGet, Path: path, Need: httpx.Viewer, Tag: tag, Title: "Get the provider of a mailbox",
	}, a.getProvider)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.set_provider",
		Method: http.MethodPut, Path: path, Need: httpx.Admin, Tag: tag, Title: "Set the provider of a mailbox",
	}, a.setProvider)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.remove_provider",
		Method: http.MethodDelete, Path: path, Need: httpx.Admin, Tag: tag, Title: "Remove the provider of a mailbox",
		Status: http.StatusNoContent,
	}, a.removeProvider)
	httpx.Route(a.Server, httpx.Op{
		ID:     "inbound.receive_events",
		Method: http.MethodPost, Path: inbound.EventsPath + "{provider}/{token}", Need: httpx.Public, Signed: true,
		Tag: conversationsTag, Title: "Take events of a mail provider", MaxBody: eventsBytes,
		Takes: []string{"text/plain"}, // SNS names its JSON so; any type is accepted
		Writes: []string{
			"email.delivered", "email.bounced", "email.complained", "email.sent", "contact.unsubscribed",
			"mailbox.disabled",
		},
		May: []int{http.StatusNotFound, http.StatusForbidden},
	}, a.receiveEvents)
}

type providerOut struct {
	httpx.Tagged
	Body inbound.Source
}

func providerAnswer(s *inbound.Source) (*providerOut, error) {
	tag, err := httpx.Digest(s)
	return &providerOut{Tagged: tag, Body: *s}, err
}

func (a *App) getProvider(ctx context.Context, in *MailboxID) (*providerOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*providerOut, error) {
		s, err := inbound.GetSource(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return providerAnswer(&s)
	})
}

type setProviderIn struct {
	MailboxID
	Body setProviderRequest
}

type setProviderRequest struct {
	Provider string `json:"provider" enum:"ses,postmark,mailgun,sendgrid" doc:"The provider"`
	Key      string `json:"key" minLength:"1" maxLength:"500"`
}

// Descriptions implements wire.Describer.
func (setProviderRequest) Descriptions() map[string]string {
	return map[string]string{
		"key": "What verifies the provider's requests; write-only. ses: ARN of the SNS topic; postmark: password of " +
			"the basic authentication; mailgun: webhook signing key; sendgrid: verification key of the event webhook",
	}
}

func (a *App) setProvider(ctx context.Context, in *setProviderIn) (*providerOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*providerOut, error) {
		if _, err := a.Mailboxes.Get(ctx, tx, in.ID, false); err != nil {
			return nil, err
		}
		s, err := a.Inbound.SetSource(ctx, tx, in.ID, in.Body.Provider, secret.Text(in.Body.Key))
		if err != nil {
			return nil, err
		}
		auditMailbox(ctx, tx, "mailbox.provider_set", in.ID)
		return providerAnswer(&s)
	})
}

func (a *App) removeProvider(ctx context.Context, in *MailboxID) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		if _, err := a.Mailboxes.Get(ctx, tx, in.ID, true); err != nil {
			return nil, err
		}
		removed, err := inbound.RemoveSource(ctx, tx, in.ID)
		if err == nil && removed {
			auditMailbox(ctx, tx, "mailbox.provider_removed", in.ID)
		}
		return &struct{}{}, err
	})
}

// providerEvents is a request of a provider. Its headers sign its body.
type providerEvents struct {
	Provider string `path:"provider" enum:"ses,postmark,mailgun,sendgrid" doc:"The provider of the mailbox"`
	InboundToken
	Password  string `header:"Authorization" hidden:"true"`
	Signature string `header:"X-Twilio-Email-Event-Webhook-Signature" hidden:"true"`
	SignedAt  string `header:"X-Twilio-Email-Event-Webhook-Timestamp" hidden:"true"`
	RawBody   []byte
}

// signatureHeaders returns the headers that verify the body.
func (in *providerEvents) signatureHeaders() http.Header {
	h := http.Header{}
	h.Set("Authorization", in.Password)
	h.Set(provider.SignatureHeader, in.Signature)
	h.Set(provider.TimestampHeader, in.SignedAt)
	return h
}

// eventsReceipt answers a provider.
type eventsReceipt struct {
	Accepted int `json:"accepted" doc:"Number of events that are new and matter"`
}

type eventsReceived struct{ Body eventsReceipt }

func (a *App) receiveEvents(ctx context.Context, in *providerEvents) (*eventsReceived, error) {
	route, err := a.inboundRoute(ctx, in.Token)
	if err != nil {
		return nil, err
	}

	key, err := a.Inbound.KeyOf(ctx, route, in.Provider)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			httpx.Unverified(ctx)
		}
		return nil, err
	}

	batch, err := a.Providers.Read(ctx, &provider.Request{
		Provider: in.Provider, Key: key.Reveal(), Header: in.signatureHeaders(), Body: in.RawBody, At: time.Now(),
	})
	if err != nil {
		return nil, providerFault(ctx, err)
	}

	fresh, err := a.Inbound.Apply(ctx, route, &batch)
	if err != nil {
		return nil, providerFault(ctx, err)
	}

	out := &eventsReceived{}
	out.Body.Accepted = fresh

	return out, nil
}

// providerFault returns the problem of a request that was not accepted. Only one that may be accepted later is 503, so
// that a provider does not repeat the others. The others count as unverified: the signature of some providers is a part
// of their form.
func providerFault(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, provider.ErrNotGenuine), errors.Is(err, inbound.ErrReplayed):
		httpx.Unverified(ctx)
		return fault.New(fault.Forbidden, "The request is not signed for this mailbox.").Because(err)
	case errors.Is(err, provider.ErrMalformed):
		httpx.Unverified(ctx)
		return fault.New(fault.MalformedRequest, "The request is not in the provider's form.").Because(err)
	}

	if failure, ok := errors.AsType[*outbound.Failure](err); ok {
		return fault.New(fault.Unavailable, "The provider's certificate cannot be fetched right now.").Because(failure)
	}

	return err
}
