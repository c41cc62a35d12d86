package api

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

type replayIn struct {
	HookID
	Body struct {
		From       wire.Time `json:"from" format:"date-time" doc:"Events made from here on; 30 days back at most"`
		To         wire.Time `json:"to" format:"date-time" doc:"And before this; a later moment than the present is taken as the present"`
		Types      []string  `json:"types,omitempty" nullable:"false" doc:"Of these types, subscribed or not; if absent, of those that the webhook subscribes"`
		OnlyFailed flag      `json:"only_failed" required:"false" doc:"Only what was to be delivered to this webhook and has not been"`
		DryRun     flag      `json:"dry_run" required:"false" doc:"Counts, and sends nothing"`
	}
}

type replayOut struct {
	Location string `header:"Location" doc:"Where the progress is; none for a dry run"`
	Body     webhooks.Replay
}

func (a *App) replayHook(ctx context.Context, in *replayIn) (*replayOut, error) {
	if err := neverNull(map[string]flag{"only_failed": in.Body.OnlyFailed, "dry_run": in.Body.DryRun}); err != nil {
		return nil, err
	}
	r := webhooks.Range{From: in.Body.From.Time, To: in.Body.To.Time, Types: in.Body.Types, OnlyFailed: in.Body.OnlyFailed.Value}
	return write(ctx, a, func(tx *postgres.Tx) (*replayOut, error) {
		if in.Body.DryRun.Value {
			made, err := a.Hooks.Preview(ctx, tx, in.ID, r)
			return &replayOut{Body: made}, err
		}
		made, err := a.Hooks.Replay(ctx, tx, in.ID, r)
		if err != nil {
			return nil, err
		}
		auditHook(ctx, tx, "webhook.replayed", in.ID)
		err = webhookreplay.Kind.Add(ctx, tx, webhookreplay.Args{Replay: *made.ID})
		return &replayOut{Location: hooksPath + "/" + in.ID.String() + "/replays/" + made.ID.String(), Body: made}, err
	})
}

type getReplayIn struct {
	HookID
	Replay id.ID `path:"replay" format:"uuid"`
}

type getReplayOut struct {
	Tagged
	Body webhooks.Replay
}

func (a *App) getReplay(ctx context.Context, in *getReplayIn) (*getReplayOut, error) {
	return read(ctx, a, func(tx *postgres.Tx) (*getReplayOut, error) {
		r, err := a.Hooks.GetReplay(ctx, tx, in.ID, in.Replay)
		if err != nil {
			return nil, err
		}
		tag, err := digest(r)
		return &getReplayOut{tag, r}, err
	})
}
