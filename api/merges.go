package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
)

const mergesPath = "/api/v1/crm/merges"

func (a *App) mountMerges() {
	const tag = "Merges"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.merge",
			Method: http.MethodPost, Path: contactsPath + "/{id}/merge", Need: httpx.Member, Tag: tag,
			Title:  "Merge other contacts into this one",
			Writes: []string{"contact.merged", "contact.updated", "contact.tagged", "lead.score"},
		}, a.mergeContacts)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "merges.list",
			Method: http.MethodGet,
			Path:   mergesPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List merges, newest first",
		},
		a.listMerges,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "merges.get",
			Method: http.MethodGet,
			Path:   mergesPath + "/{id}",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a merge",
		},
		a.getMerge,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "merges.undo",
			Method: http.MethodPost, Path: mergesPath + "/{id}/undo", Need: httpx.Member, Tag: tag,
			Title: "Undo a merge within 30 days",
			Writes: []string{
				"contact.restored", "contact.updated", "contact.tagged", "lead.score",
				quotaannounce.Kind.Name(),
			},
		}, a.undoMerge)
}

// mergedRecords returns the record types that belong to contacts and move with them in a merge.
func (a *App) mergedRecords() []merge.Noun {
	suppressions := a.suppressionService()
	// Emails that are not transmitted yet still go to the addresses that they were written to.
	mails := record.Rows{Table: "email", Counter: "computed"}
	facts := record.Rows{Table: "email_fact"}
	threads := record.Rows{Table: "thread", Counter: "computed"}
	messages := record.Rows{Table: "message", Counter: "edit"}

	return []merge.Noun{
		{Name: "suppressions", Repoint: suppressions.Repoint, Return: suppressions.Return}, // before the emails: locks
		{Name: "emails", Repoint: mails.Repoint, Return: mails.Return},
		{Name: "email_facts", Repoint: facts.Repoint, Return: facts.Return},
		{Name: "threads", Repoint: threads.Repoint, Return: threads.Return},
		{Name: "messages", Repoint: messages.Repoint, Return: messages.Return},
		{Name: "deals", Repoint: deals.Repoint, Return: deals.Return},
		{Name: "activities", Repoint: activities.Repoint, Return: activities.Return},
	}
}

// mergeResult is a merge with its surviving contact.
type mergeResult struct {
	merge.Merge
	Contact contacts.Contact `json:"contact" doc:"The surviving contact"`
}

type mergeAnswer struct{ Body mergeResult }

// MergePath is the path of a merge: the survivor. It also describes the body.
type MergePath struct{ ContactID }

// Descriptions implements wire.Describer.
func (MergePath) Descriptions() map[string]string {
	return map[string]string{
		"loser_ids": "Live contacts, which are archived. Missing values of the survivor are filled from them, in " +
			"this order",
	}
}

func (a *App) mergeContacts(ctx context.Context, in *struct {
	MergePath
	Body struct {
		LoserIDs []string `json:"loser_ids" minItems:"1" maxItems:"50"`
	} `nameHint:"MergeContactsRequest"`
},
) (*mergeAnswer, error) {
	losers := make([]id.ID, len(in.Body.LoserIDs))
	for i, one := range in.Body.LoserIDs {
		var err error
		if losers[i], err = id.Parse(one); err != nil {
			return nil, fault.Invalid("loser_ids/"+strconv.Itoa(i), "invalid_uuid", "This is not a UUID.")
		}
	}

	rate := a.scorer(ctx)
	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*mergeAnswer, error) {
		return mergeResponse(ctx, tx, func() (merge.Result, error) {
			return merge.Do(ctx, tx, in.ID, losers, rate, a.mergedRecords())
		})
	})

	return out, contacts.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
}

func (a *App) undoMerge(ctx context.Context, in *MergeID) (*mergeAnswer, error) {
	rate := a.scorer(ctx)
	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*mergeAnswer, error) {
		return mergeResponse(ctx, tx, func() (merge.Result, error) {
			return merge.Undo(ctx, tx, in.ID, rate, a.mergedRecords())
		})
	})
	return out, contacts.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
}

// mergeResponse returns the result of fn as a response and enqueues scoring for the affected contacts.
func mergeResponse(ctx context.Context, tx *postgres.Tx, fn func() (merge.Result, error)) (*mergeAnswer, error) {
	got, err := fn()
	if err != nil {
		return nil, err
	}

	var score []id.ID
	for i := range got.Changed {
		ch := &got.Changed[i]
		if _, back := ch.Previous["archived_at"]; back || scoring.Differs(ch.Before(), &ch.Contact) {
			score = append(score, ch.ID)
		}
	}

	if !slices.Contains(score, got.Survivor.ID) { // clicks and replies have moved with the emails
		score = append(score, got.Survivor.ID)
	}

	return &mergeAnswer{mergeResult{got.Merge, got.Survivor.Contact}}, enqueueScoring(ctx, tx, score...)
}

// MergeID is the path parameter of one merge.
type MergeID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the merge"`
}

type mergeShown struct {
	httpx.Tagged
	Body merge.Merge
}

func (a *App) getMerge(ctx context.Context, in *MergeID) (*mergeShown, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*mergeShown, error) {
		m, err := merge.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		tag, err := httpx.Digest(m)
		return &mergeShown{tag, m}, err
	})
}

type mergeList struct {
	Body httpx.List[merge.Merge]
}

func (a *App) listMerges(ctx context.Context, in *struct {
	httpx.Page
	httpx.Counted
	ContactID string `query:"contact_id" format:"uuid" doc:"Only merges into this contact"`
},
) (*mergeList, error) {
	var survivor *id.ID
	if in.ContactID != "" {
		i, err := id.Parse(in.ContactID)
		if err != nil {
			return nil, fault.Parameter("contact_id", "invalid_format", "This is not a UUID.")
		}
		survivor = &i
	}

	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*mergeList, error) {
		rows, err := merge.List(ctx, tx, survivor, before, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &mergeList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, rows, func(m merge.Merge) merge.Merge {
			return m
		}, func(m merge.Merge) id.ID { return m.ID })
		if err == nil {
			err = in.Add(ctx, tx, &out.Body.Total, func(ctx context.Context, tx *postgres.Tx) (int64, error) {
				return merge.Count(ctx, tx, survivor)
			})
		}

		return out, err
	})
}
