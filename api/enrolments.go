package api

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
)

const (
	enrolmentsPath = "/api/v1/enrolments"
	enrolmentsTag  = "Enrolments"
)

func (a *App) mountEnrolments() {
	const one = enrolmentsPath + "/{id}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "enrolments.list",
		Method: http.MethodGet, Path: sequencesPath + "/{id}/enrolments", Need: httpx.Viewer, Tag: enrolmentsTag,
		Title: "List the enrolments of a sequence, newest first",
	}, a.listEnrolments)
	httpx.Route(a.Server, httpx.Op{
		ID:     "enrolments.get",
		Method: http.MethodGet, Path: one, Need: httpx.Viewer, Tag: enrolmentsTag,
		Title: "Get an enrolment with its history",
	}, a.getEnrolment)

	for _, act := range []struct {
		name, title string
		feature     string
		writes      []string
		act         enrolmentAct
	}{
		{"pause", "Pause an enrolment", "", nil, enrolments.Pause},
		{"resume", "Resume a paused enrolment", plans.Sequences, nil, enrolments.Resume},
		{"stop", "End an enrolment", "", []string{"sequence.stopped"}, enrolments.Stop},
	} {
		httpx.Route(a.Server, httpx.Op{
			ID:     "enrolments." + act.name,
			Method: http.MethodPost, Path: one + "/" + act.name, Need: httpx.Member, Tag: enrolmentsTag,
			Title: act.title, Feature: act.feature, Writes: act.writes,
		}, a.enrolmentHandler(act.act))
	}

	httpx.Route(a.Server, httpx.Op{
		ID:     "enrolments.skip_step",
		Method: http.MethodPost, Path: one + "/skip-step", Need: httpx.Member, Tag: enrolmentsTag,
		Title: "Leave out the step of an enrolment that is next", Feature: plans.Sequences,
		Writes: []string{"sequence.finished"},
	}, a.enrolmentHandler(enrolments.SkipStep))
}

// EnrolmentID is the path parameter of one enrolment.
type EnrolmentID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the enrolment"`
}

// EnrolmentState is an enrolment with its history.
type EnrolmentState struct {
	enrolments.Enrolment
	mailboxes.Wait
	History []enrolments.Transition `json:"history" nullable:"false" doc:"Every change of its state, oldest first"`
}

type enrolmentOut struct {
	httpx.Tagged
	Body EnrolmentState
}

func showEnrolment(ctx context.Context, tx *postgres.Tx, e *enrolments.Enrolment) (*enrolmentOut, error) {
	history, err := enrolments.History(ctx, tx, e.ID)
	if err != nil {
		return nil, err
	}

	waits, err := enrolments.Waits(ctx, tx, []enrolments.Enrolment{*e})
	if err != nil {
		return nil, err
	}

	h := fnv.New32a()
	_, _ = fmt.Fprintln(h, len(history)) // never fails
	addWait(h, waits[0])

	return &enrolmentOut{
		Tagged: httpx.ETag(int64(e.Edit), int64(h.Sum32())),
		Body:   EnrolmentState{Enrolment: *e, Wait: waits[0], History: history},
	}, nil
}

// addWait adds to the hash of an ETag what a record waits for.
func addWait(h io.Writer, w mailboxes.Wait) {
	if w.StatusReason != nil {
		_, _ = fmt.Fprintln(h, *w.StatusReason, *w.StatusDetail) // a hash never fails
	}
}

func (a *App) getEnrolment(ctx context.Context, in *EnrolmentID) (*enrolmentOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*enrolmentOut, error) {
		e, err := enrolments.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showEnrolment(ctx, tx, &e)
	})
}

// enrolmentAct changes an enrolment. by is who does it.
type enrolmentAct func(ctx context.Context, tx *postgres.Tx, enrolment id.ID, by string) (enrolments.Enrolment, error)

func (a *App) enrolmentHandler(act enrolmentAct) func(context.Context, *EnrolmentID) (*enrolmentOut, error) {
	return func(ctx context.Context, in *EnrolmentID) (*enrolmentOut, error) {
		return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*enrolmentOut, error) {
			e, err := act(ctx, tx, in.ID, callerName(ctx))
			if err != nil {
				return nil, err
			}
			return showEnrolment(ctx, tx, &e)
		})
	}
}

type listEnrolmentsIn struct {
	SequenceID
	httpx.Page
	State     string `query:"state" enum:"pending,active,sending,paused,finished,replied,unsubscribed,bounced,goal_met,failed,removed"` //nolint:lll // a tag cannot be broken
	Step      string `query:"step" doc:"Only enrolments at the step with this key"`
	Reason    string `query:"reason" doc:"Only enrolments whose state has this reason"`
	ContactID string `query:"contact_id" format:"uuid" doc:"Only enrolments of this contact"`
	Count     string `query:"count" enum:"estimate,exact"`
}

// Descriptions implements wire.Describer.
func (listEnrolmentsIn) Descriptions() map[string]string {
	return map[string]string{
		"state": "Only enrolments with this state",
		"count": "Add total, the number of enrolments; both values count exactly",
	}
}

type enrolmentList struct {
	Body httpx.List[enrolments.ListedEnrolment]
}

func (a *App) listEnrolments(ctx context.Context, in *listEnrolmentsIn) (*enrolmentList, error) {
	after, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	contact, err := uuidParameter("contact_id", in.ContactID)
	if err != nil {
		return nil, err
	}

	f := &enrolments.Filter{Sequence: &in.ID, Contact: contact, Step: in.Step, Reason: in.Reason}
	if in.State != "" {
		f.States = []string{in.State}
	}

	var before id.ID
	if after != nil {
		before = *after
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*enrolmentList, error) {
		if _, err := sequences.Get(ctx, tx, in.ID, false); err != nil {
			return nil, err
		}

		all, err := enrolments.List(ctx, tx, f, before, in.Limit+1)
		if err != nil {
			return nil, err
		}

		rows, err := enrolments.Listed(ctx, tx, all)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(e enrolments.ListedEnrolment) enrolments.ListedEnrolment { return e },
			func(e enrolments.ListedEnrolment) id.ID { return e.ID })
		if err == nil && in.Count != "" {
			n, failed := enrolments.Count(ctx, tx, f)
			l.Total = &n
			err = failed
		}

		return &enrolmentList{l}, err
	})
}
