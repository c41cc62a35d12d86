package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"
)

const (
	idleOrgs    = 20
	idleStart   = 20 * time.Second // what a start does is over by then
	idleLength  = 60 * time.Second
	idlePickups = 100
)

// idle measures the processor time of one process of each role, Postgres and Redis while nothing happens, and then how
// soon the roles, idle again between any two, pick up the job of a contact's webhook.
func idle(ctx context.Context, log *slog.Logger) error {
	w, err := newWorld(ctx, log, idleOrgs)
	if err != nil {
		return err
	}
	defer w.close()
	x := &exchange{world: w}
	if x.receiver, err = receive(ctx); err != nil {
		return err
	}
	defer x.receiver.close()
	if err := x.subscribe(ctx, w.orgIDs()); err != nil {
		return err
	}
	var api, scheduler *process
	for _, p := range []struct {
		role string
		to   **process
	}{{"api", &api}, {"worker", &x.worker}, {"scheduler", &scheduler}} {
		if *p.to, err = w.start(ctx, p.role); err != nil {
			return err
		}
	}
	if err := x.know(ctx); err != nil {
		return err
	}
	x.known.api, x.known.scheduler = api.cmd.Process.Pid, scheduler.cmd.Process.Pid
	if err := pause(ctx, idleStart); err != nil {
		return err
	}
	before := x.usage(ctx)
	if err := pause(ctx, idleLength); err != nil {
		return err
	}
	used := x.usage(ctx).minus(before)
	fmt.Printf("idle, processor time a second: %s\n", used.of(int(idleLength.Seconds())))
	each := used.Seconds() * 1e3 / idleLength.Seconds()
	verdict(os.Stdout, "idle at most 20 ms of processor a second", each <= 20, fmt.Sprintf("%.1f ms", each))
	return x.pickups(ctx, api)
}

// pickups posts contacts one by one and prints how long after its event each webhook arrives.
func (x *exchange) pickups(ctx context.Context, api *process) error {
	cl, crowd := newClients(api.addr, 1), newCrowd(x.world.orgs, new(atomic.Int64), 1)
	x.receiver.reset()
	for i := range idlePickups {
		if _, err := cl.post(crowd.caller(0), newMark()); err != nil {
			return err
		}
		apart := 200*time.Millisecond + rand.N(200*time.Millisecond)
		if err := errors.Join(x.receiver.await(ctx, i+1), pause(ctx, apart)); err != nil {
			return err
		}
	}
	took := x.receiver.took()
	percentiles("an idle service, event to its webhook's POST", took)
	p50 := quantile(took, .5)
	verdict(os.Stdout, "p50 at most 10 ms", p50 <= 10*time.Millisecond, short(p50))
	return nil
}
