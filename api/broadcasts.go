package api

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/broadcastprepare"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/emailsendbulk"
)

const (
	broadcastsPath = "/api/v1/broadcasts"
	broadcastsTag  = "Broadcasts"
)

func (a *App) mountBroadcasts() {
	const one = broadcastsPath + "/{id}"
	feature := plans.Broadcasts
	prepare := []string{broadcastprepare.Kind.Name()}
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.create",
		Method: http.MethodPost, Path: broadcastsPath, Need: httpx.Member, Tag: broadcastsTag,
		Title: "Create a broadcast", Status: http.StatusCreated, Feature: feature,
	}, a.createBroadcast)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.list",
		Method: http.MethodGet, Path: broadcastsPath, Need: httpx.Viewer, Tag: broadcastsTag,
		Title: "List broadcasts, newest first",
	}, a.listBroadcasts)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.get",
		Method: http.MethodGet, Path: one, Need: httpx.Viewer, Tag: broadcastsTag, Title: "Get a broadcast",
	}, a.getBroadcast)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.update",
		Method: http.MethodPatch, Path: one, Need: httpx.Member, Tag: broadcastsTag, Title: "Update a broadcast",
		Feature: feature, Writes: prepare, May: []int{http.StatusConflict},
	}, a.updateBroadcast)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.archive",
		Method: http.MethodDelete, Path: one, Need: httpx.Member, Tag: broadcastsTag, Title: "Archive a broadcast",
		Status: http.StatusNoContent, May: []int{http.StatusConflict},
	}, a.archiveBroadcast)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.restore",
		Method: http.MethodPost, Path: one + "/restore", Need: httpx.Member, Tag: broadcastsTag,
		Title: "Restore an archived broadcast",
	}, a.restoreBroadcast)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.stats",
		Method: http.MethodGet, Path: one + "/stats", Need: httpx.Viewer, Tag: broadcastsTag,
		Title: "Get what became of a broadcast's emails",
	}, a.broadcastStats)
	a.mountBroadcastActions(one)
}

func (a *App) mountBroadcastActions(one string) {
	prepare := []string{broadcastprepare.Kind.Name()}
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.preview",
		Method: http.MethodPost, Path: one + "/preview", Need: httpx.Viewer, Tag: broadcastsTag, Open: true,
		Title: "Count whom a broadcast would reach",
	}, a.previewBroadcast)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.test",
		Method: http.MethodPost, Path: one + "/test", Need: httpx.Member, Tag: broadcastsTag,
		Title: "Send a broadcast to its authors", Status: http.StatusAccepted, Feature: plans.Broadcasts,
		Writes: []string{emailsend.Kind.Name()}, May: []int{http.StatusConflict},
	}, a.testBroadcast)
	httpx.Route(a.Server, httpx.Op{
		ID:     "broadcasts.schedule",
		Method: http.MethodPost, Path: one + "/schedule", Need: httpx.Member, Tag: broadcastsTag,
		Title: "Send a broadcast now or at a time", Feature: plans.Broadcasts, Writes: prepare,
		May: []int{http.StatusConflict},
	}, a.scheduleBroadcast)

	for _, action := range []struct {
		name, title string
		feature     string
		writes      []string
		act         func(*broadcasts.Service, context.Context, *postgres.Tx, id.ID) (broadcasts.Row, error)
	}{
		{"pause", "Pause a broadcast", "", nil, (*broadcasts.Service).Pause},
		{
			"resume", "Resume a paused broadcast", plans.Broadcasts, append(prepare, emailsendbulk.Kind.Name()),
			(*broadcasts.Service).Resume,
		},
		{"cancel", "Cancel a broadcast", "", nil, (*broadcasts.Service).Cancel},
	} {
		httpx.Route(a.Server, httpx.Op{
			ID:     "broadcasts." + action.name,
			Method: http.MethodPost, Path: one + "/" + action.name, Need: httpx.Member, Tag: broadcastsTag,
			Title: action.title, Feature: action.feature, Writes: action.writes, May: []int{http.StatusConflict},
		}, func(ctx context.Context, in *RecordID) (*broadcastAnswer, error) {
			return a.changeBroadcast(ctx, func(tx *postgres.Tx) (broadcasts.Row, error) {
				return action.act(a.broadcastService(), ctx, tx, in.ID)
			})
		})
	}
}

// broadcastService returns the service of broadcasts.
func (a *App) broadcastService() *broadcasts.Service {
	return &broadcasts.Service{
		Emails: a.Emails, Templates: &templates.Service{Box: a.Box, PublicURL: a.Deps.PublicURL},
		AllowPrivate: a.Mailboxes.AllowPrivate,
		Prepare: func(ctx context.Context, tx *postgres.Tx, broadcast id.ID, run int, at time.Time) error {
			var how []queue.Adding
			if at.After(time.Now()) {
				how = append(how, queue.At(at))
			}
			return broadcastprepare.Kind.Add(ctx, tx, broadcastprepare.Args{Broadcast: broadcast, Run: run}, how...)
		},
		Send: func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error {
			return emailsendbulk.Kind.Add(ctx, tx, emailsendbulk.Args{Email: email}, queue.ConcurrencyKey(mailbox))
		},
	}
}

type broadcastAnswer struct {
	httpx.Tagged
	Body broadcasts.BroadcastState
}

func showBroadcast(ctx context.Context, tx *postgres.Tx, r *broadcasts.Row) (*broadcastAnswer, error) {
	all, err := broadcasts.States(ctx, tx, []broadcasts.Row{*r})
	if err != nil {
		return nil, err
	}

	computed := int64(r.Value.Computed)
	if all[0].StatusReason != nil {
		h := fnv.New32a()
		_, _ = fmt.Fprintln(h, computed, all[0].Status) // a hash never fails
		addWait(h, all[0].Wait)
		computed = int64(h.Sum32())
	}

	return &broadcastAnswer{Tagged: httpx.ETag(r.Edit, computed), Body: all[0]}, nil
}

type broadcastCreated struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the broadcast"`
	Body     broadcasts.BroadcastState
}

func (a *App) createBroadcast(ctx context.Context, in *recordNew[createBroadcastRequest]) (*broadcastCreated, error) {
	p := in.Body.toPatch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*broadcastCreated, error) {
		row, err := broadcasts.Create(ctx, tx, &p, callerName(ctx))
		if err != nil {
			return nil, err
		}
		return &broadcastCreated{
			Tagged: httpx.ETag(row.Edit, 0), Location: broadcastsPath + "/" + row.Value.ID.String(),
			Body: broadcasts.BroadcastState{Broadcast: row.Value},
		}, nil
	})
}

type broadcastQuery struct {
	httpx.PageInput
	Status   string `query:"status" enum:"draft,scheduled,preparing,sending,held,paused,sent,cancelled"`
	Archived bool   `query:"archived" doc:"List archived broadcasts instead of live ones"`
}

// Descriptions implements wire.Describer.
func (broadcastQuery) Descriptions() map[string]string {
	return map[string]string{"status": "Only broadcasts with this status"}
}

func (a *App) listBroadcasts(ctx context.Context, in *broadcastQuery) (*recordList[broadcasts.BroadcastState], error) {
	after, err := httpx.After[record.Position](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*recordList[broadcasts.BroadcastState], error) {
		rows, err := broadcasts.List(ctx, tx, in.Archived, in.Status, after, in.Limit+1)
		if err != nil {
			return nil, err
		}

		states, err := broadcasts.States(ctx, tx, rows)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, states,
			func(s broadcasts.BroadcastState) broadcasts.BroadcastState { return s },
			func(s broadcasts.BroadcastState) record.Position {
				return broadcasts.Position(&broadcasts.Row{Value: s.Broadcast})
			})
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, func(ctx context.Context, tx *postgres.Tx) (int64, error) {
				return broadcasts.Count(ctx, tx, in.Archived, in.Status)
			})
		}

		return &recordList[broadcasts.BroadcastState]{l}, err
	})
}

func (a *App) getBroadcast(ctx context.Context, in *recordRead) (*broadcastAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*broadcastAnswer, error) {
		row, err := broadcasts.Get(ctx, tx, in.ID, in.IncludeArchived)
		if err != nil {
			return nil, err
		}
		return showBroadcast(ctx, tx, &row)
	})
}

// changeBroadcast answers with the broadcast that change has changed.
func (a *App) changeBroadcast(ctx context.Context, change func(*postgres.Tx) (broadcasts.Row, error)) (*broadcastAnswer,
	error,
) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*broadcastAnswer, error) {
		row, err := change(tx)
		if err != nil {
			return nil, err
		}
		return showBroadcast(ctx, tx, &row)
	})
}

func (a *App) updateBroadcast(ctx context.Context, in *recordPatch[updateBroadcastRequest]) (*broadcastAnswer, error) {
	p := in.Body.toPatch()
	return a.changeBroadcast(ctx, func(tx *postgres.Tx) (broadcasts.Row, error) {
		ch, err := a.broadcastService().Update(ctx, tx, in.ID, in.Check, &p)
		return ch.Row, err
	})
}

func (a *App) archiveBroadcast(ctx context.Context, in *recordDrop) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		_, err := broadcasts.Archive(ctx, tx, in.ID, in.Check)
		return &struct{}{}, err
	})
}

func (a *App) restoreBroadcast(ctx context.Context, in *RecordID) (*broadcastAnswer, error) {
	return a.changeBroadcast(ctx, func(tx *postgres.Tx) (broadcasts.Row, error) {
		ch, err := broadcasts.Restore(ctx, tx, in.ID)
		return ch.Row, err
	})
}

// broadcastResults are the statistics of a broadcast.
type broadcastResults struct {
	Data []broadcasts.BroadcastStats `json:"data" doc:"What became of the emails, by variant"`
}

type broadcastStats struct{ Body broadcastResults }

func (a *App) broadcastStats(ctx context.Context, in *RecordID) (*broadcastStats, error) {
	return httpx.ReadStandby(ctx, a.Server, standby.Stats, func(tx *postgres.Tx) (*broadcastStats, error) {
		all, err := broadcasts.Stats(ctx, tx, in.ID)
		out := &broadcastStats{}
		out.Body.Data = all
		return out, err
	})
}

type broadcastPreview struct{ Body broadcasts.AudienceCount }

func (a *App) previewBroadcast(ctx context.Context, in *RecordID) (*broadcastPreview, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*broadcastPreview, error) {
		p, err := a.broadcastService().Preview(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return &broadcastPreview{*p}, nil
	})
}

type scheduleBroadcastRequest struct {
	SendAt httpx.Optional[string] `json:"send_at" required:"false"`
}

// Descriptions implements wire.Describer.
func (scheduleBroadcastRequest) Descriptions() map[string]string {
	return map[string]string{
		"send_at": "When to send it, RFC 3339; absent or null: at its send_at, or at once if it has none",
	}
}

func (a *App) scheduleBroadcast(ctx context.Context, in *struct {
	RecordID
	Body *scheduleBroadcastRequest
},
) (*broadcastAnswer, error) {
	var at *wire.Time
	if in.Body != nil {
		f := form.At("")
		f.Time("send_at", in.Body.SendAt.Field, &at)
		if at != nil && time.Until(at.Time) > furthest {
			f.Wrong("send_at", "out_of_range", "A broadcast can be scheduled at most a year ahead.")
		}
		if err := f.Fault(); err != nil {
			return nil, err
		}
	}

	return a.changeBroadcast(ctx, func(tx *postgres.Tx) (broadcasts.Row, error) {
		return a.broadcastService().Schedule(ctx, tx, in.ID, at)
	})
}

type testBroadcastRequest struct {
	To        []string               `json:"to" minItems:"1" maxItems:"5" doc:"Addresses that get the mail"`
	ContactID httpx.Optional[string] `json:"contact_id" required:"false"`
}

// Descriptions implements wire.Describer.
func (testBroadcastRequest) Descriptions() map[string]string {
	return map[string]string{"contact_id": "Contact whose values the mail has; absent: the first one of the audience"}
}

// testEmails are the emails of a test.
type testEmails struct {
	EmailIDs []id.ID `json:"email_ids" doc:"The emails that are going to be sent"`
}

type broadcastTest struct{ Body testEmails }

func (a *App) testBroadcast(ctx context.Context, in *struct {
	RecordID
	Body testBroadcastRequest
},
) (*broadcastTest, error) {
	contact, err := uuidField("contact_id", in.Body.ContactID)
	if err != nil {
		return nil, err
	}

	for i, to := range in.Body.To {
		if !form.IsEmail(to) {
			return nil, fault.Invalid("to/"+string(rune('0'+i)), "invalid_email", "This is no mail address.")
		}
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*broadcastTest, error) {
		all, err := a.broadcastService().Test(ctx, tx, in.ID, in.Body.To, contact, callerName(ctx))
		if err != nil {
			return nil, err
		}

		out := &broadcastTest{}
		for _, e := range all {
			out.Body.EmailIDs = append(out.Body.EmailIDs, e.ID)
			if err := emailsend.Kind.Add(ctx, tx, emailsend.Args{Email: e.ID},
				queue.ConcurrencyKey(e.MailboxID)); err != nil {
				return nil, err
			}
		}

		return out, nil
	})
}
