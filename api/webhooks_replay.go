package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

type replayWebhookIn struct {
	HookID
	Body struct {
		From       wire.Time  `json:"from" format:"date-time" doc:"Start, inclusive; at most 30 days ago"`
		To         wire.Time  `json:"to" format:"date-time" doc:"End, exclusive; a future time is treated as now"`
		Types      []string   `json:"types,omitempty" doc:"Event types, subscribed or not; default: subscribed types"`
		OnlyFailed httpx.Flag `json:"only_failed" required:"false" doc:"Only this webhook's undelivered events"`
		DryRun     httpx.Flag `json:"dry_run" required:"false" doc:"Count the events without sending them"`
	}
}

type replayOut struct {
	Location string `header:"Location" doc:"Address of the progress; absent for a dry run"`
	Body     webhooks.Replay
}

func (a *App) replayHook(ctx context.Context, in *replayWebhookIn) (*replayOut, error) {
	if err := httpx.NoNulls(
		map[string]httpx.Flag{"only_failed": in.Body.OnlyFailed, "dry_run": in.Body.DryRun},
	); err != nil {
		return nil, err
	}

	r := webhooks.Range{
		From: in.Body.From.Time, To: in.Body.To.Time, Types: in.Body.Types,
		OnlyFailed: in.Body.OnlyFailed.Value,
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*replayOut, error) {
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
	Replay id.ID `path:"replay" format:"uuid" doc:"ID of the replay"`
}

type getReplayOut struct {
	httpx.Tagged
	Body webhooks.Replay
}

func (a *App) getReplay(ctx context.Context, in *getReplayIn) (*getReplayOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*getReplayOut, error) {
		r, err := a.Hooks.GetReplay(ctx, tx, in.ID, in.Replay)
		if err != nil {
			return nil, err
		}
		tag, err := httpx.Digest(r)
		return &getReplayOut{tag, r}, err
	})
}
