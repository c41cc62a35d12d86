package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

const (
	conversationsTag = "Conversations"
	threadsPath      = "/api/v1/crm/threads"
	messagesPath     = "/api/v1/crm/messages"
)

func (a *App) mountThreads() {
	const thread, message = threadsPath + "/{id}", messagesPath + "/{id}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "threads.list",
		Method: http.MethodGet, Path: threadsPath, Need: httpx.Viewer, Tag: conversationsTag,
		Title: "List threads with incoming mails, the latest first",
	}, a.listThreads)
	httpx.Route(a.Server, httpx.Op{
		ID:     "threads.get",
		Method: http.MethodGet, Path: thread, Need: httpx.Viewer, Tag: conversationsTag,
		Title: "Get a thread with its messages",
	}, a.getThread)
	httpx.Route(a.Server, httpx.Op{
		ID:     "threads.update",
		Method: http.MethodPatch, Path: thread, Need: httpx.Member, Tag: conversationsTag,
		Title: "Mark a thread as read or unread",
	}, a.updateThread)
	httpx.Route(a.Server, httpx.Op{
		ID:     "messages.get",
		Method: http.MethodGet, Path: message, Need: httpx.Viewer, Tag: conversationsTag, Title: "Get a message",
	}, a.getMessage)
	httpx.Route(a.Server, httpx.Op{
		ID:     "messages.update",
		Method: http.MethodPatch, Path: message, Need: httpx.Member, Tag: conversationsTag,
		Title: "Correct the class of an incoming message",
		Writes: []string{
			"email.delivered", "email.replied", "email.bounced", "email.complained", "email.sent",
			"contact.unsubscribed", "mailbox.disabled", leadscore.Kind.Name(),
		},
	}, a.updateMessage)
}

// conversation is a thread with its messages.
type conversation struct {
	inbound.Thread
	Messages []inbound.Message `json:"messages" doc:"Its latest 200 messages in both directions, oldest first"`
}

type threadQuery struct {
	httpx.PageInput
	ContactID string `query:"contact_id" format:"uuid" doc:"Only threads with this contact"`
	MailboxID string `query:"mailbox_id" format:"uuid" doc:"Only threads of this mailbox"`
	Unread    string `query:"unread" enum:"true,false" doc:"Only threads that are unread, or read"`
}

func (q *threadQuery) toFilter() (f *inbound.Filter, err error) {
	f = &inbound.Filter{}
	if f.Contact, err = uuidParameter("contact_id", q.ContactID); err != nil {
		return nil, err
	}
	if f.Mailbox, err = uuidParameter("mailbox_id", q.MailboxID); err != nil {
		return nil, err
	}
	if q.Unread != "" {
		f.Unread = new(q.Unread == "true")
	}

	return f, nil
}

type threadList struct {
	Body httpx.List[inbound.ListedThread]
}

func (a *App) listThreads(ctx context.Context, in *threadQuery) (*threadList, error) {
	f, err := in.toFilter()
	if err != nil {
		return nil, err
	}

	after, err := httpx.After[record.Position](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*threadList, error) {
		rows, err := inbound.ListThreads(ctx, tx, f, after, in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			inbound.VersionedThread.Listed, inbound.ThreadPosition)
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, func(ctx context.Context, tx *postgres.Tx) (int64, error) {
				return inbound.CountThreads(ctx, tx, f)
			})
		}

		return &threadList{l}, err
	})
}

func (a *App) getThread(ctx context.Context, in *RecordID) (*recordAnswer[conversation], error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*recordAnswer[conversation], error) {
		return conversationOf(ctx, tx, in)
	})
}

func conversationOf(ctx context.Context, tx *postgres.Tx, in *RecordID) (*recordAnswer[conversation], error) {
	v, all, err := inbound.GetThread(ctx, tx, in.ID)
	if err != nil {
		return nil, err
	}
	return &recordAnswer[conversation]{httpx.ETag(v.Edit, v.Computed), conversation{v.Thread, all}}, nil
}

type updateThreadRequest struct {
	Unread httpx.Flag `json:"unread" required:"false" doc:"Whether the thread is unread"`
}

func (a *App) updateThread(ctx context.Context, in *recordPatch[updateThreadRequest]) (*recordAnswer[conversation],
	error,
) {
	if err := httpx.NoNulls(map[string]httpx.Flag{"unread": in.Body.Unread}); err != nil {
		return nil, err
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*recordAnswer[conversation], error) {
		if in.Body.Unread.Set {
			if err := inbound.MarkThread(ctx, tx, in.ID, in.Body.Unread.Value, in.Check); err != nil {
				return nil, err
			}
		}
		return conversationOf(ctx, tx, &in.RecordID)
	})
}

type messageAnswer struct {
	httpx.Tagged
	Body inbound.Message
}

func (a *App) getMessage(ctx context.Context, in *RecordID) (*messageAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*messageAnswer, error) {
		v, err := inbound.Get(ctx, tx, in.ID)
		if err == nil {
			return &messageAnswer{httpx.ETag(v.Edit, 0), v.Message}, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return nil, err
		}

		full, failed := emails.Get(ctx, tx, in.ID)
		if fault.Is(failed, fault.NotFound) || failed == nil && full.MarkedAt == nil {
			return nil, err
		}
		if failed != nil {
			return nil, failed
		}

		return &messageAnswer{httpx.ETag(full.Edit, full.Computed), inbound.Sent(full)}, nil
	})
}

type updateMessageRequest struct {
	Class httpx.Optional[string] `json:"class" required:"false"`
}

// Descriptions implements wire.Describer.
func (updateMessageRequest) Descriptions() map[string]string {
	return map[string]string{"class": "What the mail is: " + strings.Join(classify.Classes(), ", ")}
}

// updateMessage corrects the class of an incoming message. An outgoing one has none.
func (a *App) updateMessage(ctx context.Context, in *recordPatch[updateMessageRequest]) (*messageAnswer, error) {
	class := in.Body.Class
	if class.Null {
		return nil, httpx.NotNullable("class")
	}
	if class.Set && !slices.Contains(classify.Classes(), class.Value) {
		return nil, fault.Invalid("class", "invalid_choice",
			fault.Choices("There is no such class.", class.Value, classify.Classes()))
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*messageAnswer, error) {
		v, err := inbound.Get(ctx, tx, in.ID)
		if err == nil && class.Set {
			v, err = a.Inbound.SetClass(ctx, tx, in.ID, class.Value, in.Check)
		}
		if err != nil {
			return nil, err
		}
		return &messageAnswer{httpx.ETag(v.Edit, 0), v.Message}, nil
	})
}
