package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/sequencemove"
)

func (a *App) mountMoves() {
	const one = sequencesPath + "/{id}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.move",
		Method: http.MethodPost, Path: one + "/move", Need: httpx.Member, Tag: enrolmentsTag,
		Title: "Move enrolments to another version", Status: http.StatusAccepted, Feature: plans.Sequences,
		Writes: []string{sequencemove.Kind.Name()},
	}, a.moveEnrolments)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.get_move",
		Method: http.MethodGet, Path: one + "/moves/{move}", Need: httpx.Viewer, Tag: enrolmentsTag,
		Title: "Get the progress of a move",
	}, a.getMove)
}

type moveEnrolmentsIn struct {
	SequenceID
	Body struct {
		From   int                               `json:"from" minimum:"1" doc:"Version that the enrolments have"`
		To     int                               `json:"to" minimum:"1" doc:"Activated version that they get"`
		Map    httpx.Optional[map[string]string] `json:"map" required:"false" doc:"New key of a step, by the old one"`
		DryRun httpx.Flag                        `json:"dry_run" required:"false" doc:"Count without moving"`
	}
}

type moveOut struct{ Body enrolments.VersionMove }

type moveStarted struct {
	Location string `header:"Location" doc:"Address of the job"`
	Body     enrolments.VersionMove
}

func (a *App) moveEnrolments(ctx context.Context, in *moveEnrolmentsIn) (*moveStarted, error) {
	if err := httpx.NoNulls(map[string]httpx.Flag{"dry_run": in.Body.DryRun}); err != nil {
		return nil, err
	}

	r := &enrolments.MoveRequest{
		Sequence: in.ID, From: in.Body.From, To: in.Body.To, Chosen: in.Body.Map.Value, DryRun: in.Body.DryRun.Value,
		By: callerName(ctx),
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*moveStarted, error) {
		m, err := enrolments.StartMove(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		return &moveStarted{"/api/v1/jobs/" + m.ID.String(), *m},
			sequencemove.Kind.Add(ctx, tx, sequencemove.Args{Move: m.ID})
	})
}

// MoveID is the path of one move.
type MoveID struct {
	SequenceID
	Move id.ID `path:"move" format:"uuid" doc:"ID of the job"`
}

func (a *App) getMove(ctx context.Context, in *MoveID) (*moveOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*moveOut, error) {
		m, err := enrolments.GetMove(ctx, tx, in.Move)
		if err == nil && m.SequenceID != in.ID {
			err = fault.New(fault.NotFound, "There is no such job.")
		}
		if err != nil {
			return nil, err
		}
		return &moveOut{*m}, nil
	})
}
