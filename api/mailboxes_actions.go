package api

import (
	"context"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/mailboxcheck"
)

func (a *App) mountMailboxActions(tag, one string) {
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.test",
		Method: http.MethodPost, Path: one + "/test", Need: httpx.Admin, Tag: tag, Title: "Test a mailbox",
		Status: http.StatusAccepted, Writes: []string{mailboxcheck.Kind.Name()},
	}, a.testMailbox)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.hold",
		Method: http.MethodPost, Path: one + "/hold", Need: httpx.Admin, Tag: tag, Title: "Hold a mailbox",
	}, a.holdMailbox)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.resume",
		Method: http.MethodPost, Path: one + "/resume", Need: httpx.Admin, Tag: tag, Title: "Resume a mailbox",
	}, a.resumeMailbox)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.rotate_inbound_token",
		Method: http.MethodPost, Path: one + "/rotate-inbound-token", Need: httpx.Admin, Tag: tag,
		Title: "Replace a mailbox's inbound address", Secret: true,
	}, a.rotateMailboxToken)
}

type testMailboxOut struct {
	Location string `header:"Location" doc:"Address of the mailbox, which shows the result"`
	Body     mailboxTest
}

// mailboxTest is the response to the request of a test.
type mailboxTest struct {
	ID     id.ID  `json:"id" format:"uuid" doc:"ID of the mailbox"`
	Status string `json:"status" enum:"unverified,active,held,disabled" doc:"Status of the mailbox before the test"`
}

func (a *App) testMailbox(ctx context.Context, in *MailboxID) (*testMailboxOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*testMailboxOut, error) {
		v, err := a.Mailboxes.RequestCheck(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		out := &testMailboxOut{
			Location: mailboxesPath + "/" + in.ID.String(), Body: mailboxTest{ID: in.ID, Status: v.Status},
		}
		return out, mailboxcheck.Kind.Add(ctx, tx, mailboxcheck.Args{Mailbox: in.ID})
	})
}

type holdMailboxIn struct {
	MailboxID
	Body *holdMailboxRequest
}

type holdMailboxRequest struct {
	Until *time.Time `json:"until,omitempty" nullable:"true"`
}

// Descriptions implements wire.Describer.
func (holdMailboxRequest) Descriptions() map[string]string {
	return map[string]string{"until": "End of the hold (RFC 3339); null or absent: until it is resumed"}
}

func (a *App) holdMailbox(ctx context.Context, in *holdMailboxIn) (*mailboxOut, error) {
	var until *wire.Time
	if in.Body != nil && in.Body.Until != nil {
		at := wire.At(*in.Body.Until)
		if until = &at; !at.After(time.Now()) || at.Year() > 9999 {
			return nil, fault.Invalid("until", "out_of_range", "The end of the hold lies in the future.")
		}
	}
	return a.actOnMailbox(ctx, in.ID, "mailbox.held",
		func(tx *postgres.Tx) (mailboxes.Versioned, error) { return a.Mailboxes.Hold(ctx, tx, in.ID, until) })
}

func (a *App) resumeMailbox(ctx context.Context, in *MailboxID) (*mailboxOut, error) {
	return a.actOnMailbox(ctx, in.ID, "mailbox.resumed",
		func(tx *postgres.Tx) (mailboxes.Versioned, error) { return a.Mailboxes.Resume(ctx, tx, in.ID) })
}

func (a *App) actOnMailbox(ctx context.Context, i id.ID, action string,
	act func(*postgres.Tx) (mailboxes.Versioned, error),
) (*mailboxOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*mailboxOut, error) {
		v, err := act(tx)
		if err != nil {
			return nil, err
		}
		auditMailbox(ctx, tx, action, i)
		return mailboxAnswer(&v), nil
	})
}

type rotateMailboxOut struct {
	httpx.Tagged
	Body mailboxWithURL
}

func (a *App) rotateMailboxToken(ctx context.Context, in *MailboxID) (*rotateMailboxOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*rotateMailboxOut, error) {
		v, token, err := a.Mailboxes.RotateToken(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		auditMailbox(ctx, tx, "mailbox.inbound_token_rotated", in.ID)
		return &rotateMailboxOut{
			Tagged: httpx.ETag(int64(v.Edit), v.Computed),
			Body:   mailboxWithURL{showMailbox(&v.Mailbox), a.inboundURL(token)},
		}, nil
	})
}
