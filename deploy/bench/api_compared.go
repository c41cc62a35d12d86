package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Parameters of a turn of the API beside another commit.
const (
	apiOrgs        = 600
	apiConnections = 8
	apiLength      = 1500 * time.Millisecond // of the POSTs, and of the GETs
)

// openAPI starts an API whose orgs have a contact each. The caller must call close.
func openAPI(ctx context.Context, log *slog.Logger) (h *house, err error) {
	w, err := newWorld(ctx, log, apiOrgs)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	h = &house{world: w}
	if err := h.serve(ctx); err != nil {
		return nil, err
	}
	cl := newClients(h.api.addr, 1)
	for i := range h.orgs {
		contact, err := cl.post(h.orgs[i], newMark())
		if err != nil {
			return nil, err
		}
		if h.orgs[i].contact, err = id.Parse(contact); err != nil {
			return nil, err
		}
	}
	if _, err := w.admin.Exec(ctx, "ANALYZE"); err != nil {
		return nil, err
	}
	h.known.api = h.api.cmd.Process.Pid
	return h, h.known.servers(ctx, w.admin, w.redis.URL)
}

// figures is one turn beside another commit.
func (h *house) figures(ctx context.Context) (figures, error) {
	cl, crowd := newClients(h.api.addr, apiConnections), newCrowd(h.orgs, &h.next, apiConnections)
	out := figures{}
	for name, op := range map[string]func(context.Context, int) error{
		"POST": cl.poster(crowd),
		"GET": func(_ context.Context, w int) error {
			who := crowd.caller(w)
			return cl.call(w, who.key, fasthttp.MethodGet, contactsPath+"/"+who.contact.String(), nil,
				fasthttp.StatusOK, nil)
		},
	} {
		var calls atomic.Int64
		before := h.known.usage(nil)
		s, err := turn(ctx, contender{op: func(ctx context.Context, w int) error {
			calls.Add(1)
			return op(ctx, w)
		}}, apiConnections, apiLength)
		if err != nil {
			return nil, err
		}
		used := h.known.usage(nil).minus(before)
		out[name+" "+rate], out[name+" "+processorTime] = s.perSecond, used.Seconds()*1e6/float64(calls.Load())
	}
	return out, h.forget(ctx)
}
