package api

import (
	"context"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	defaultDays = 30
	maxDays     = 366
)

func (a *App) mountOverview() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "overview.get",
		Method: http.MethodGet, Path: "/api/v1/overview", Need: httpx.Viewer, Tag: orgTag,
		Title: "Get counts and sums by day",
	}, a.getOverview)
}

type overviewIn struct {
	From string `query:"from" format:"date" doc:"First day, YYYY-MM-DD; default: 29 days before to"`
	To   string `query:"to" format:"date" doc:"Last day, inclusive; default: today in UTC"`
}

// dayRange returns the range of the request.
func (in *overviewIn) dayRange(now time.Time) (from, to time.Time, err error) {
	to = now.UTC().Truncate(24 * time.Hour)
	for _, p := range []struct {
		name, given string
		at          *time.Time
	}{{"to", in.To, &to}, {"from", in.From, &from}} {
		if p.given == "" {
			continue
		}
		if *p.at, err = time.Parse(time.DateOnly, p.given); err != nil || p.at.Year() < 1 {
			return from, to, fault.Parameter(p.name, "invalid_format", "This is not a date as YYYY-MM-DD.")
		}
	}

	if in.From == "" {
		from = to.AddDate(0, 0, 1-defaultDays)
	}

	switch {
	case to.Before(from):
		err = fault.Parameter("to", "out_of_range", "The last day is not before the first one.")
	case to.After(from.AddDate(0, 0, maxDays-1)):
		err = fault.Parameter("from", "out_of_range", "At most 366 days are shown at once.")
	}

	return from, to, err
}

type overviewOut struct{ Body overview.Overview }

func (a *App) getOverview(ctx context.Context, in *overviewIn) (*overviewOut, error) {
	from, to, err := in.dayRange(time.Now())
	if err != nil {
		return nil, err
	}
	if err := overview.Refresh(ctx, a.Server.DB, httpx.Who(ctx).Org); err != nil {
		a.Log.WarnContext(ctx, "overview not refreshed", "error", err) // the last counts can be read
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*overviewOut, error) {
		o, err := overview.Read(ctx, tx, from, to)
		if err != nil {
			return nil, err
		}
		return &overviewOut{*o}, nil
	})
}
