package api

import (
	"context"
	"mime"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// newInbound returns the service that takes mails and enqueues their jobs.
func newInbound(db *postgres.DB, box *secret.Sealer) *inbound.Service {
	return &inbound.Service{
		DB: db, Box: box, Suppressions: &suppression.Service{Box: box},
		Enqueue: func(ctx context.Context, tx *postgres.Tx, message id.ID) error {
			return inboundmail.Kind.Add(ctx, tx, inboundmail.Args{Message: message})
		},
		Rescore: func(ctx context.Context, tx *postgres.Tx, contact id.ID) error {
			return leadscore.Kind.Add(ctx, tx, leadscore.Args{Contacts: []id.ID{contact}})
		},
	}
}

// mountInbound mounts the address to which a mail server or a provider posts the mails that come back.
func (a *App) mountInbound() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "inbound.receive_email",
		Method: http.MethodPost, Path: mailboxes.InboundPath + "{token}", Need: httpx.Public, Signed: true,
		Tag:   conversationsTag,
		Title: "Take an incoming mail", Status: http.StatusAccepted, Also: []int{http.StatusOK},
		Takes: []string{"message/rfc822", "application/octet-stream"}, MaxBody: parse.MaxReceived,
		Shrink: parse.Receive,
		Writes: []string{inboundmail.Kind.Name()}, May: []int{http.StatusNotFound},
	}, a.receiveEmail)
}

// InboundToken is the path parameter of an inbound address.
type InboundToken struct {
	Token string `path:"token" maxLength:"200" doc:"Token of the mailbox's inbound address"`
}

type incomingMail struct {
	InboundToken
	Kind     string `header:"Content-Type" hidden:"true"`
	Encoding string `header:"Content-Encoding" hidden:"true"`
	RawBody  []byte
}

// checkMediaType refuses a body that is no mail as it was received, such as a form of a provider.
func (in *incomingMail) checkMediaType() error {
	if in.Encoding != "" && !strings.EqualFold(in.Encoding, "identity") {
		return fault.New(fault.UnsupportedMedia, "Send the mail without Content-Encoding.")
	}
	kind, _, err := mime.ParseMediaType(in.Kind)
	if in.Kind != "" && (err != nil || kind != "message/rfc822" && kind != "application/octet-stream") {
		return fault.New(fault.UnsupportedMedia, "Send the mail as message/rfc822.")
	}
	return nil
}

type mailReceipt struct {
	Status int
	Body   storedMail
}

type storedMail struct {
	ID id.ID `json:"id" format:"uuid" doc:"ID of the message, which is readable once it was processed"`
}

// inboundRoute returns the route of a token. A request with an unknown one counts as unverified.
func (a *App) inboundRoute(ctx context.Context, token string) (inbound.Route, error) {
	route, err := a.Inbound.RouteOf(ctx, token)
	if fault.Is(err, fault.NotFound) {
		httpx.Unverified(ctx)
	}
	return route, err
}

// receiveEmail stores a mail. It accepts any bytes: what is no mail becomes a message of the class unknown.
func (a *App) receiveEmail(ctx context.Context, in *incomingMail) (*mailReceipt, error) {
	route, err := a.inboundRoute(ctx, in.Token)
	if err != nil {
		return nil, err
	}
	if err := in.checkMediaType(); err != nil {
		return nil, err
	}

	message, fresh, err := a.Inbound.Intake(ctx, route, in.RawBody, inbound.HTTP)
	if err != nil {
		return nil, err
	}

	out := &mailReceipt{Status: http.StatusOK}
	if fresh {
		out.Status = http.StatusAccepted
	}

	out.Body.ID = message

	return out, nil
}
