package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	idleOrgs    = 20
	idleStart   = 20 * time.Second // after the work that the start leaves
	idleLength  = 60 * time.Second
	idlePickups = 100
	// With many orgs: each entry of the timetable but the hourly ones has its turn.
	idleLengthOfMany = 5 * time.Minute
)

// idleArgs returns the number of orgs and the length of "idle[=orgs[,seconds]]".
func idleArgs(arg string) (orgs int, length time.Duration, ok bool) {
	size, seconds, timed := strings.Cut(arg, ",")
	if orgs, ok = sized(size, "idle", idleOrgs, idleOrgs); !ok {
		return 0, 0, false
	}
	if length = idleLength; orgs > idleOrgs {
		length = idleLengthOfMany
	}
	if timed {
		n, err := strconv.Atoi(seconds)
		length, ok = time.Duration(n)*time.Second, err == nil && n > 0
	}
	return orgs, length, ok
}

// idle measures the processor time of one process of each role, Postgres and Redis while nothing happens, and then how
// soon the roles, idle again between any two, pick up the job of a contact's webhook. Above 20 orgs, each has a
// contact, and 20 have a webhook. Work that the start and the contacts leave is awaited first, since it is no idleness.
func idle(ctx context.Context, log *slog.Logger, orgs int, length time.Duration) error {
	w, err := newWorldOn(ctx, log, orgs, startCounting(log))
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.settle(ctx); err != nil {
		return err
	}
	x := &exchange{world: w}
	if x.receiver, err = receive(ctx); err != nil {
		return err
	}
	defer x.receiver.close()
	if err := x.subscribe(ctx, w.orgIDs()[:idleOrgs]); err != nil {
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
	w.orgs = w.orgs[:idleOrgs]
	if orgs > idleOrgs {
		if err := x.contactEach(ctx, api); err != nil {
			return err
		}
	}
	if err := errors.Join(x.workLeft(ctx), pause(ctx, idleStart)); err != nil {
		return err
	}
	if err := x.idleTime(ctx, orgs, length); err != nil {
		return err
	}
	return x.pickups(ctx, api)
}

// idleTime measures the processor time of an idle time of that length.
func (x *exchange) idleTime(ctx context.Context, orgs int, length time.Duration) error {
	if err := x.countStatements(ctx); err != nil {
		return err
	}
	began, before := loadNow(), x.usage(ctx)
	if err := pause(ctx, length); err != nil {
		return err
	}
	used := x.usage(ctx).minus(before)
	fmt.Printf("%d orgs, idle for %s, load %s before and %s after, processor time a second: %s\n", orgs, length,
		began, loadNow(), used.of(int(length.Seconds())))
	if err := x.printStatements(ctx, os.Stdout, length); err != nil {
		return err
	}
	each := used.Seconds() * 1e3 / length.Seconds()
	verdict(os.Stdout, "idle at most 20 ms of processor a second", each <= 20, fmt.Sprintf("%.1f ms", each))
	each -= used["api"].Seconds() * 1e3 / length.Seconds()
	verdict(os.Stdout, "worker and scheduler, with all of Postgres and Redis, at most 2 % of a core", each <= 20,
		fmt.Sprintf("%.2f %%", each/10))
	return nil
}

// contactEach gives each org a contact, a copy of one that is posted.
func (x *exchange) contactEach(ctx context.Context, api *process) error {
	first := x.world.orgs[0]
	if _, err := newClients(api.addr, 1).post(first, newMark()); err != nil {
		return err
	}
	const parts = 200 // a transaction holds a lock for each org
	for part := range parts {
		sql, err := x.copySQL(ctx, "contact", "contact", map[string]string{"org_id": "g.id", "id": "uuidv7_at(now())"},
			fmt.Sprintf("org g WHERE g.id <> s.org_id AND abs(hashtext(g.id::text)) %% %d = %d", parts, part))
		if err != nil {
			return err
		}
		if _, err = x.admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	_, err := x.admin.Exec(ctx, "VACUUM ANALYZE")
	return err
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
