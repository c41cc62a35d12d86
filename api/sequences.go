package api

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
)

const (
	sequencesPath = "/api/v1/sequences"
	sequencesTag  = "Sequences"
)

func (a *App) mountSequences() {
	const one = sequencesPath + "/{id}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.create",
		Method: http.MethodPost, Path: sequencesPath, Need: httpx.Member, Tag: sequencesTag,
		Title: "Create a sequence", Status: http.StatusCreated, Feature: plans.Sequences,
	}, a.createSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.list",
		Method: http.MethodGet, Path: sequencesPath, Need: httpx.Viewer, Tag: sequencesTag, Title: "List sequences",
	}, a.listSequences)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.get",
		Method: http.MethodGet, Path: one, Need: httpx.Viewer, Tag: sequencesTag, Title: "Get a sequence",
	}, a.getSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.update",
		Method: http.MethodPatch, Path: one, Need: httpx.Member, Tag: sequencesTag,
		Title: "Update a sequence or its draft", Feature: plans.Sequences,
	}, a.updateSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.delete",
		Method: http.MethodDelete, Path: one, Need: httpx.Member, Tag: sequencesTag,
		Title: "Archive a sequence and hide it", Status: http.StatusNoContent,
		Writes: []string{"sequence.stopped"},
	}, a.deleteSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.restore",
		Method: http.MethodPost, Path: one + "/restore", Need: httpx.Member, Tag: sequencesTag,
		Title: "List a deleted sequence again; it stays archived",
	}, a.restoreSequence)
	a.mountSequenceActions(one)
	a.mountEnroll()
	a.mountMoves()
	a.mountEnrolments()
}

// SequenceID is the path parameter of one sequence.
type SequenceID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the sequence"`
}

// SequenceState is a sequence with the numbers of its enrolments, and what it waits for.
type SequenceState struct {
	sequences.Sequence
	StatusDetail *string          `json:"status_detail" doc:"What it waits for, in words; null: nothing"`
	StatusAction *string          `json:"status_action" doc:"What to do about it, in words; null: nothing"`
	Counts       map[string]int64 `json:"counts" nullable:"false" doc:"Number of enrolments by state; absent: none"`
}

type sequenceOut struct {
	httpx.Tagged
	Body SequenceState
}

func showSequence(ctx context.Context, tx *postgres.Tx, r *sequences.Row) (*sequenceOut, error) {
	all, err := sequenceStates(ctx, tx, []sequences.Row{*r})
	if err != nil {
		return nil, err
	}

	h := fnv.New32a()
	for _, state := range slices.Sorted(maps.Keys(all[0].Counts)) {
		_, _ = fmt.Fprintln(h, state, all[0].Counts[state]) // never fails
	}

	for i := range all[0].Steps {
		if e := all[0].Steps[i].Email; e != nil {
			for n := range e.Variants {
				_, _ = fmt.Fprintln(h, e.Variants[n].StoppedAt) // never fails
			}
		}
	}

	addWait(h, mailboxes.Wait{StatusReason: all[0].StatusReason, StatusDetail: all[0].StatusDetail})

	return &sequenceOut{Tagged: httpx.ETag(int64(r.Edit), int64(h.Sum32())), Body: all[0]}, nil
}

// sequenceStates adds the numbers of enrolments, which variants of steps were stopped, and what the sequences wait for.
func sequenceStates(ctx context.Context, tx *postgres.Tx, rows []sequences.Row) ([]SequenceState, error) {
	ids := make([]id.ID, len(rows))
	for i := range rows {
		ids[i] = rows[i].Value.ID
	}

	found, err := counts.Read(ctx, tx, ids...)
	if err != nil {
		return nil, err
	}

	stops, err := comparisons.Read(ctx, tx, ids...)
	if err != nil {
		return nil, err
	}

	waits, err := enrolments.SequenceWaits(ctx, tx, rows)
	if err != nil {
		return nil, err
	}

	out := make([]SequenceState, len(rows))
	for i := range rows {
		out[i] = SequenceState{rows[i].Value, waits[i].StatusDetail, waits[i].StatusAction, found[ids[i]].Enrolments}
		out[i].StatusReason = waits[i].StatusReason
		out[i].Steps = stops[ids[i]].Shown(out[i].Steps)
	}

	return out, nil
}

type sequenceCreated struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the sequence"`
	Body     SequenceState
}

func createdSequence(ctx context.Context, tx *postgres.Tx, r *sequences.Row) (*sequenceCreated, error) {
	out, err := showSequence(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	return &sequenceCreated{out.Tagged, sequencesPath + "/" + r.Value.ID.String(), out.Body}, nil
}

func (a *App) createSequence(ctx context.Context, in *struct{ Body createSequenceRequest }) (*sequenceCreated, error) {
	p := in.Body.toPatch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceCreated, error) {
		ground, err := sequenceGround(ctx, tx)
		if err != nil {
			return nil, err
		}
		r, err := sequences.Create(ctx, tx, &p, ground)
		if err != nil {
			return nil, err
		}
		return createdSequence(ctx, tx, &r)
	})
}

type getSequenceIn struct {
	SequenceID
	IncludeArchived bool `query:"include_archived" doc:"Also find a deleted sequence"`
}

func (a *App) getSequence(ctx context.Context, in *getSequenceIn) (*sequenceOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		r, err := sequences.Get(ctx, tx, in.ID, in.IncludeArchived)
		if err != nil {
			return nil, err
		}
		return showSequence(ctx, tx, &r)
	})
}

type updateSequenceIn struct {
	SequenceID
	httpx.IfMatch
	Body updateSequenceRequest
}

func (a *App) updateSequence(ctx context.Context, in *updateSequenceIn) (*sequenceOut, error) {
	p := in.Body.toPatch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		ground, err := sequenceGround(ctx, tx)
		if err != nil {
			return nil, err
		}
		ch, err := sequences.Update(ctx, tx, in.ID, in.Check, &p, ground)
		if err != nil {
			return nil, err
		}
		return showSequence(ctx, tx, &ch.Row)
	})
}

type deleteSequenceIn struct {
	SequenceID
	httpx.IfMatch
}

func (a *App) deleteSequence(ctx context.Context, in *deleteSequenceIn) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		ch, err := sequences.Delete(ctx, tx, in.ID, in.Check)
		if err == nil && ch.Changed() {
			err = endEnrolments(ctx, tx, in.ID)
		}
		return &struct{}{}, err
	})
}

func (a *App) restoreSequence(ctx context.Context, in *SequenceID) (*sequenceOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		ch, err := sequences.Restore(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showSequence(ctx, tx, &ch.Row)
	})
}

type sequenceQuery struct {
	httpx.Page
	CountQuery
	Sort     string `query:"sort" enum:"-created_at,created_at,name" default:"-created_at"`
	Status   string `query:"status" enum:"draft,active,paused,archived" doc:"Only sequences with this status"`
	Archived bool   `query:"archived" doc:"List deleted sequences instead of the others"`
}

// Descriptions implements wire.Describer.
func (sequenceQuery) Descriptions() map[string]string {
	return map[string]string{
		"sort": "Order of the list; a leading minus is descending",
	}
}

type sequenceList struct{ Body httpx.List[SequenceState] }

func (a *App) listSequences(ctx context.Context, in *sequenceQuery) (*sequenceList, error) {
	f := sequences.Filter{Status: in.Status, Deleted: in.Archived}
	from, err := httpx.After[record.Position](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*sequenceList, error) {
		rows, err := sequences.List(ctx, tx, f, in.Sort, from, in.Limit+1)
		if err != nil {
			return nil, err
		}

		all, err := sequenceStates(ctx, tx, rows)
		if err != nil {
			return nil, err
		}

		out := &sequenceList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, all,
			func(s SequenceState) SequenceState { return s },
			func(s SequenceState) record.Position {
				return sequences.Position(in.Sort, &sequences.Row{Value: s.Sequence})
			})
		if err != nil || in.Count == "" {
			return out, err
		}

		count := sequences.Count
		if in.Count == "estimate" {
			count = sequences.Estimate
		}

		n, err := count(ctx, tx, f)
		out.Body.Total = &n

		return out, err
	})
}
