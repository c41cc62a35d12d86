package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/sequences/stats"
)

func (a *App) mountSequenceActions(one string) {
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.activate",
		Method: http.MethodPost, Path: one + "/activate", Need: httpx.Member, Tag: sequencesTag,
		Title: "Freeze the draft of a sequence and activate it", Feature: plans.Sequences,
		Writes: []string{"sequence.activated"},
	}, a.activateSequence)

	for _, m := range []sequenceStatusChange{
		{"pause", "Pause a sequence", "", sequences.Pause, func(s *sequences.Sequence) events.Event {
			return events.SequencePaused{Sequence: s.Event()}
		}},
		{
			"resume", "Resume a paused sequence", plans.Sequences, sequences.Resume,
			func(s *sequences.Sequence) events.Event { return events.SequenceActivated{Sequence: s.Event()} },
		},
	} {
		httpx.Route(a.Server, httpx.Op{
			ID:     "sequences." + m.name,
			Method: http.MethodPost, Path: one + "/" + m.name, Need: httpx.Member, Tag: sequencesTag, Title: m.title,
			Feature: m.feature, Writes: []string{m.event(&sequences.Sequence{}).Type()},
		}, func(ctx context.Context, in *SequenceID) (*sequenceOut, error) {
			return a.changeSequenceStatus(ctx, in.ID, m)
		})
	}

	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.archive",
		Method: http.MethodPost, Path: one + "/archive", Need: httpx.Member, Tag: sequencesTag,
		Title: "End a sequence for good; it stays listed", Writes: []string{"sequence.stopped"},
	}, a.archiveSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.duplicate",
		Method: http.MethodPost, Path: one + "/duplicate", Need: httpx.Member, Tag: sequencesTag,
		Title: "Copy a sequence to a new draft", Status: http.StatusCreated, Feature: plans.Sequences,
	}, a.duplicateSequence)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.get_stats",
		Method: http.MethodGet, Path: one + "/stats", Need: httpx.Viewer, Tag: sequencesTag,
		Title: "Count what became of the emails of a sequence",
	}, a.sequenceStats)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.list_versions",
		Method: http.MethodGet, Path: one + "/versions", Need: httpx.Viewer, Tag: sequencesTag,
		Title: "List the versions of a sequence, newest first",
	}, a.listSequenceVersions)
}

type activateSequenceIn struct {
	SequenceID
	httpx.IfMatch
}

func (a *App) activateSequence(ctx context.Context, in *activateSequenceIn) (*sequenceOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		r, changed, err := sequences.Activate(ctx, tx, in.ID, in.Check, func(s *sequences.Sequence) error {
			gates, err := a.sequenceGates(ctx, tx)
			if err != nil {
				return err
			}
			return gates.Check(ctx, tx, s)
		})
		if err == nil && changed {
			enrolments.WakeAll(tx, in.ID)
			err = events.Announce(ctx, tx, events.SequenceActivated{Sequence: r.Value.Event()})
		}
		if err != nil {
			return nil, err
		}

		return showSequence(ctx, tx, &r)
	})
}

// sequenceStatusChange is a change of the status of a sequence.
type sequenceStatusChange struct {
	name, title, feature string
	act                  func(context.Context, *postgres.Tx, id.ID) (sequences.Row, bool, error)
	event                func(*sequences.Sequence) events.Event
}

// changeSequenceStatus changes the status of a sequence, and announces the change if there is one.
func (a *App) changeSequenceStatus(ctx context.Context, i id.ID, m sequenceStatusChange) (*sequenceOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		r, changed, err := m.act(ctx, tx, i)
		if err == nil && changed {
			enrolments.WakeAll(tx, i)
			err = events.Announce(ctx, tx, m.event(&r.Value))
		}
		if err != nil {
			return nil, err
		}
		return showSequence(ctx, tx, &r)
	})
}

func (a *App) archiveSequence(ctx context.Context, in *SequenceID) (*sequenceOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceOut, error) {
		r, changed, err := sequences.Archive(ctx, tx, in.ID)
		if err == nil && changed {
			err = endEnrolments(ctx, tx, in.ID)
		}
		if err != nil {
			return nil, err
		}
		return showSequence(ctx, tx, &r)
	})
}

// endEnrolments ends the open enrolments of a sequence that was archived. The tick ends what is too much for a request.
func endEnrolments(ctx context.Context, tx *postgres.Tx, sequence id.ID) error {
	_, err := enrolments.EndAll(ctx, tx, sequence, sequences.Archived, callerName(ctx))
	return err
}

type duplicateSequenceIn struct {
	SequenceID
	Body *struct {
		Name string `json:"name,omitempty" maxLength:"200" doc:"Name of the copy; default: the name, marked as a copy"`
	}
}

func (a *App) duplicateSequence(ctx context.Context, in *duplicateSequenceIn) (*sequenceCreated, error) {
	name := ""
	if in.Body != nil {
		name = in.Body.Name
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sequenceCreated, error) {
		r, err := sequences.Duplicate(ctx, tx, in.ID, name)
		if err != nil {
			return nil, err
		}
		return createdSequence(ctx, tx, &r)
	})
}

type listSequenceVersionsIn struct {
	SequenceID
	httpx.Page
}

type sequenceVersions struct {
	Body httpx.List[sequences.VersionState]
}

func (a *App) listSequenceVersions(ctx context.Context, in *listSequenceVersionsIn) (*sequenceVersions, error) {
	after, err := httpx.After[int](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	before := 0
	if after != nil {
		before = *after
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*sequenceVersions, error) {
		rows, err := sequences.Versions(ctx, tx, in.ID, before, in.Limit+1)
		if err != nil {
			return nil, err
		}

		stops, err := comparisons.Read(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}

		for i := range rows {
			rows[i].Steps = stops[in.ID].Shown(rows[i].Steps)
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(v sequences.VersionState) sequences.VersionState { return v },
			func(v sequences.VersionState) int { return v.Version })

		return &sequenceVersions{l}, err
	})
}

type sequenceStatsOut struct {
	Body struct {
		Data []stats.Step `json:"data" nullable:"false" doc:"One per step that sends, or per variant of it"`
	}
}

func (a *App) sequenceStats(ctx context.Context, in *SequenceID) (*sequenceStatsOut, error) {
	return httpx.ReadStandby(ctx, a.Server, standby.Stats, func(tx *postgres.Tx) (*sequenceStatsOut, error) {
		r, err := sequences.Get(ctx, tx, in.ID, false)
		if err != nil {
			return nil, err
		}
		out := &sequenceStatsOut{}
		out.Body.Data, err = stats.Of(ctx, tx, in.ID, r.Value.Steps)
		return out, err
	})
}
