package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/mailboxes/removal"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/emailsendbulk"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
)

const mailboxesPath = "/api/v1/mailboxes"

func (a *App) mountMailboxes() {
	const tag, one = "Mailboxes", mailboxesPath + "/{id}"
	quota := []string{quotaannounce.Kind.Name()}
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.create",
		Method: http.MethodPost, Path: mailboxesPath, Need: httpx.Admin, Tag: tag, Title: "Create a mailbox",
		Status: http.StatusCreated, Secret: true, Writes: quota,
	}, a.createMailbox)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.list",
		Method: http.MethodGet, Path: mailboxesPath, Need: httpx.Viewer, Tag: tag, Title: "List mailboxes",
	}, a.listMailboxes)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.get",
		Method: http.MethodGet, Path: one, Need: httpx.Viewer, Tag: tag, Title: "Get a mailbox",
	}, a.getMailbox)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.update",
		Method: http.MethodPatch, Path: one, Need: httpx.Admin, Tag: tag, Title: "Update a mailbox",
	}, a.updateMailbox)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.archive",
		Method: http.MethodDelete, Path: one, Need: httpx.Admin, Tag: tag, Title: "Archive a mailbox",
		Status: http.StatusNoContent, May: []int{http.StatusConflict},
		Writes: []string{emailsend.Kind.Name(), emailsendbulk.Kind.Name()},
	}, a.archiveMailbox)
	httpx.Route(a.Server, httpx.Op{
		ID:     "mailboxes.restore",
		Method: http.MethodPost, Path: one + "/restore", Need: httpx.Admin, Tag: tag,
		Title: "Restore an archived mailbox", Writes: quota,
	}, a.restoreMailbox)
	a.mountMailboxActions(tag, one)
	a.mountProviders(tag, one)
}

// MailboxID is the path parameter of one mailbox.
type MailboxID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the mailbox"`
}

type mailboxOut struct {
	httpx.Tagged
	Body MailboxState
}

func mailboxAnswer(v *mailboxes.Versioned) *mailboxOut {
	return &mailboxOut{Tagged: httpx.ETag(int64(v.Edit), v.Computed), Body: showMailbox(&v.Mailbox)}
}

type createMailboxOut struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the mailbox"`
	Body     mailboxWithURL
}

func (a *App) createMailbox(ctx context.Context, in *struct{ Body createMailboxRequest }) (*createMailboxOut, error) {
	p := in.Body.toPatch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*createMailboxOut, error) {
		if err := trackByDefault(ctx, tx, &p); err != nil {
			return nil, err
		}

		v, token, err := a.Mailboxes.Create(ctx, tx, &p, mailAccount)
		if err != nil {
			return nil, err
		}

		auditMailbox(ctx, tx, "mailbox.created", v.ID)

		return &createMailboxOut{
			Tagged:   httpx.ETag(int64(v.Edit), v.Computed),
			Location: mailboxesPath + "/" + v.ID.String(),
			Body:     mailboxWithURL{showMailbox(&v.Mailbox), a.inboundURL(token)},
		}, nil
	})
}

func (a *App) inboundURL(token string) string { return a.PublicURL + mailboxes.InboundPath + token }

// mailPlatforms has the platform whose logins a kind of mailbox signs in with.
var mailPlatforms = map[string]string{mailboxes.Google: "gmail", mailboxes.Microsoft: "outlook"}

// mailAccount checks that a mailbox of a kind can sign in with a connected account.
func mailAccount(ctx context.Context, tx *postgres.Tx, kind string, account id.ID) error {
	const field = "social_account_id"
	for _, of := range []provider.Kind{provider.Social, provider.Ads} {
		found, err := social.Get(ctx, tx, of, account, false)
		if fault.Of(err) != nil {
			continue
		}
		if err != nil {
			return err
		}
		if found.Platform != mailPlatforms[kind] {
			return fault.Invalid(field, "wrong_platform", "This account's login cannot send mail of this kind.")
		}
		if len(found.MissingScopes) > 0 {
			return fault.Invalid(field, "missing_scopes", "The account's login was not granted "+
				strings.Join(found.MissingScopes, ", ")+". Connect it again, and allow that.")
		}

		return nil
	}

	return fault.Invalid(field, "not_found", "There is no such connected account.")
}

type listMailboxesIn struct {
	httpx.Page
	Kind     string `query:"kind" enum:"smtp,google,microsoft,sandbox" doc:"Only mailboxes of this kind"`
	Status   string `query:"status" enum:"unverified,active,held,disabled" doc:"Only mailboxes with this status"`
	Archived bool   `query:"archived" doc:"List archived mailboxes instead of live ones"`
	Count    string `query:"count" enum:"estimate,exact"`
}

// Descriptions implements wire.Describer.
func (listMailboxesIn) Descriptions() map[string]string {
	return map[string]string{"count": "Add total, the number of mailboxes; both values count exactly"}
}

func (a *App) listMailboxes(ctx context.Context, in *listMailboxesIn) (*struct {
	Body httpx.List[MailboxState]
}, error,
) {
	after, err := httpx.After[record.Position](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	f := mailboxes.Filter{Kind: in.Kind, Status: in.Status, Archived: in.Archived}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*struct{ Body httpx.List[MailboxState] }, error) {
		rows, err := a.Mailboxes.List(ctx, tx, f, after, in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(v mailboxes.Versioned) MailboxState { return showMailbox(&v.Mailbox) }, mailboxes.Position)
		if err == nil && in.Count != "" {
			n, failed := a.Mailboxes.Count(ctx, tx, f)
			l.Total = &n
			err = failed
		}

		return &struct{ Body httpx.List[MailboxState] }{l}, err
	})
}

type getMailboxIn struct {
	MailboxID
	Archived bool `query:"include_archived" doc:"Also return an archived mailbox"`
}

func (a *App) getMailbox(ctx context.Context, in *getMailboxIn) (*mailboxOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*mailboxOut, error) {
		v, err := a.Mailboxes.Get(ctx, tx, in.ID, in.Archived)
		if err != nil {
			return nil, err
		}
		return mailboxAnswer(&v), nil
	})
}

type updateMailboxIn struct {
	MailboxID
	httpx.IfMatch
	Body updateMailboxRequest
}

func (a *App) updateMailbox(ctx context.Context, in *updateMailboxIn) (*mailboxOut, error) {
	p := in.Body.toPatch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*mailboxOut, error) {
		v, changed, err := a.Mailboxes.Update(ctx, tx, in.ID, in.Check, &p, mailAccount)
		if err != nil {
			return nil, err
		}
		if changed {
			auditMailbox(ctx, tx, "mailbox.updated", v.ID)
		}
		return mailboxAnswer(&v), nil
	})
}

type archiveMailboxIn struct {
	MailboxID
	httpx.IfMatch
	ReassignTo string `query:"reassign_to" format:"uuid"`
}

// Descriptions implements wire.Describer.
func (archiveMailboxIn) Descriptions() map[string]string {
	return map[string]string{
		"reassign_to": "Active mailbox that takes over what is to be sent; without it a mailbox in use is not archived",
	}
}

func (a *App) archiveMailbox(ctx context.Context, in *archiveMailboxIn) (*struct{}, error) {
	to, err := uuidParameter("reassign_to", in.ReassignTo)
	if err != nil {
		return nil, err
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		changed, moved, err := a.mailboxRemoval().Remove(ctx, tx, in.ID, to, in.Check)
		if err != nil {
			return nil, err
		}
		if changed {
			auditMailbox(ctx, tx, "mailbox.archived", in.ID)
		}
		if to != nil {
			org.Audit(ctx, tx, org.Entry{
				Action: "mailbox.reassigned", Target: "mailbox", ID: in.ID.String(),
				Detail: map[string]any{
					"to": to.String(), "enrolments": moved.Enrolments, "broadcasts": moved.Broadcasts,
					"emails": moved.Emails,
				},
			})
		}
		return &struct{}{}, nil
	})
}

// mailboxRemoval returns the service that deletes mailboxes.
func (a *App) mailboxRemoval() *removal.Service {
	return &removal.Service{
		Emails: a.Emails,
		Send: func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID, automated bool, at time.Time) error {
			how := []queue.Adding{queue.ConcurrencyKey(mailbox)}
			if at.After(time.Now()) {
				how = append(how, queue.At(at))
			}
			if automated {
				return emailsendbulk.Kind.Add(ctx, tx, emailsendbulk.Args{Email: email}, how...)
			}
			return emailsend.Kind.Add(ctx, tx, emailsend.Args{Email: email}, how...)
		},
	}
}

func (a *App) restoreMailbox(ctx context.Context, in *MailboxID) (*mailboxOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*mailboxOut, error) {
		v, changed, err := a.Mailboxes.Restore(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		if changed {
			auditMailbox(ctx, tx, "mailbox.restored", in.ID)
		}
		return mailboxAnswer(&v), nil
	})
}

// auditMailbox writes an audit log entry for a mailbox, which holds credentials.
func auditMailbox(ctx context.Context, tx *postgres.Tx, action string, mailbox id.ID) {
	org.Audit(ctx, tx, org.Entry{Action: action, Target: "mailbox", ID: mailbox.String()})
}
