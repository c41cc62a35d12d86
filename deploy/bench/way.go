package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	wayClients  = 64
	wayContacts = 2000 // contacts of one turn
	wayRounds   = 5
	wayCompared = 500 // contacts of one turn beside another commit
	// wayOrgs is enough that each org stays below its rate limit, which is on.
	wayOrgs = 200
	// flushed is how long Postgres may keep what an idle session has counted, with some room.
	flushed = 11 * time.Second
)

// way is a contact's way through the service: a POST to the API, its rows and its event, and the webhook's delivery.
type way struct {
	*exchange
	api   *process
	crowd *crowd
	same  *copier // the rows that a contact leaves, by bare SQL
	one   *copier // its event alone
	n     int     // contacts of a turn
}

// ways measures the way from a POST to the committed attempt of its delivery, beside two floors on one Postgres and
// receiver: the same rows by bare SQL and a POST, and one row and a POST.
func ways(ctx context.Context, log *slog.Logger) error {
	s, err := openWay(ctx, log, wayContacts)
	if err != nil {
		return err
	}
	defer s.close()
	for _, step := range []func(context.Context) error{s.idle, s.sample, s.rounds} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.api.stop()
	s.worker.stop()
	return s.count(ctx)
}

// openWay starts the service for turns of n contacts. The caller must call close.
func openWay(ctx context.Context, log *slog.Logger, n int) (*way, error) {
	w, err := newWorld(ctx, log, wayOrgs)
	if err != nil {
		return nil, err
	}
	s, err := serveWay(ctx, w, n)
	if err != nil {
		w.close()
		return nil, err
	}
	return s, nil
}

// serveWay gives each org of w a webhook, and starts an API and a worker.
func serveWay(ctx context.Context, w *world, n int) (s *way, err error) {
	if s, err = prepareWay(ctx, w, n); err != nil {
		return nil, err
	}
	if s.api, err = w.start(ctx, "api"); err != nil {
		return nil, err
	}
	if s.worker, err = w.start(ctx, "worker"); err != nil {
		return nil, err
	}
	if err := s.know(ctx); err != nil {
		return nil, err
	}
	s.known.api = s.api.cmd.Process.Pid
	return s, nil
}

// prepareWay gives each org of w a webhook.
func prepareWay(ctx context.Context, w *world, n int) (s *way, err error) {
	s = &way{exchange: &exchange{world: w}, n: n}
	if s.receiver, err = receive(ctx); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, s.receiver.close)
	if err := s.subscribe(ctx, w.orgIDs()); err != nil {
		return nil, err
	}
	s.crowd = newCrowd(w.orgs, new(atomic.Int64), wayClients)
	return s, nil
}

// figures is one turn beside another commit.
func (s *way) figures(ctx context.Context) (figures, error) {
	from, err := redisReads(ctx, s.redis.URL)
	if err != nil {
		return nil, err
	}
	p, err := s.measured(ctx, s.through)
	if err != nil {
		return nil, err
	}
	to, err := redisReads(ctx, s.redis.URL)
	return figures{
		rate: p.perSecond, processorTime: p.cpu.Seconds() * 1e6 / float64(s.n), walBytes: p.wal,
		redisTrips: (to - from) / float64(s.n),
	}, errors.Join(err, s.clear(ctx))
}

// idle prints the processor time of all processes while nothing happens.
func (s *way) idle(ctx context.Context) error {
	const length = 10 * time.Second
	if err := errors.Join(pause(ctx, length), s.settled(ctx)); err != nil { // what a start does is over
		return err
	}
	before := s.usage(ctx)
	if err := pause(ctx, length); err != nil {
		return err
	}
	used := s.usage(ctx).minus(before)
	fmt.Printf("idle, processor time a second: %s\n", used.of(int(length.Seconds())))
	verdict(os.Stdout, "idle at most 20 ms of processor a second", used.Seconds()*1e3/length.Seconds() <= 20,
		fmt.Sprintf("%.1f ms", used.Seconds()*1e3/length.Seconds()))
	return nil
}

// sample sends one contact through and prepares the floors from the rows that it leaves.
func (s *way) sample(ctx context.Context) error {
	c, mark := s.world.orgs[len(s.world.orgs)-1], newMark()
	client := newClients(s.api.addr, 1)
	s.receiver.reset()
	if _, err := client.post(c, newMark()); err != nil { // leaves the rows of an org's first contact
		return err
	}
	if err := errors.Join(s.delivered(ctx, 1), s.settled(ctx)); err != nil {
		return err
	}
	before, err := tenantRows(ctx, s.admin, c.org)
	if err != nil {
		return err
	}
	if _, err := client.post(c, mark); err != nil {
		return err
	}
	if err := errors.Join(s.delivered(ctx, 2), s.settled(ctx)); err != nil {
		return err
	}
	after, err := tenantRows(ctx, s.admin, c.org)
	if err != nil {
		return err
	}
	if s.same, err = newCopier(ctx, s.admin, c.org, mark, before, after); err != nil {
		return err
	}
	fmt.Printf("a contact leaves %s\n", s.same)
	s.one = s.same.only("event")
	return s.clear(ctx)
}

// passed is what one turn measured.
type passed struct {
	perSecond float64
	cpu       usage
	wal       float64 // bytes per contact
}

// rounds measures the service and the floors in turns.
func (s *way) rounds(ctx context.Context) error {
	body := s.receiver.last()
	// Its sessions stay until the end: the processor time of a session that is gone is not found.
	pool, err := pgxpool.New(ctx, s.postgres.URL+"&pool_max_conns=10&pool_min_conns=10&application_name=floor")
	if err != nil {
		return err
	}
	defer pool.Close()
	turns := []struct {
		name string
		run  func(context.Context) error
	}{
		{"one row and a POST", s.bare(pool, s.one, body)},
		{"the same rows and a POST", s.bare(pool, s.same, body)},
		{"the service", s.through},
	}
	got := make([][]passed, len(turns))
	var counted, ended counters
	for round := range wayRounds + 1 {
		if round == 1 { // the first one warms up
			if err := s.counters(ctx, &counted); err != nil {
				return err
			}
		}
		for i, turn := range turns {
			p, err := s.measured(ctx, turn.run)
			if err != nil {
				return fmt.Errorf("%s: %w", turn.name, err)
			}
			if round > 0 {
				got[i] = append(got[i], p)
			}
			if err := s.clear(ctx); err != nil {
				return err
			}
		}
	}
	if err := s.counters(ctx, &ended); err != nil {
		return err
	}
	fmt.Printf("\n%d contacts a turn by %d clients, a webhook per org; median [quartiles] of %d turns\n", wayContacts,
		wayClients, wayRounds)
	for i, turn := range turns {
		fmt.Printf("%-26s per second %s, of the first %s, processor ms a contact %s, WAL kB %s\n", turn.name,
			spreadOf(each(got[i], func(p passed) float64 { return p.perSecond })),
			spreadOf(over(got[i], got[0])), spreadOf(each(got[i], passed.milliseconds)),
			spreadOf(each(got[i], func(p passed) float64 { return p.wal / 1e3 })))
	}
	last := got[len(turns)-1]
	fmt.Printf("the service's last turn, by process: %s\n", last[wayRounds-1].cpu.of(wayContacts))
	ended.print(&counted)
	cost := spreadOf(each(last, passed.milliseconds))
	wal := spreadOf(each(last, func(p passed) float64 { return p.wal }))
	verdict(os.Stdout, "at most 2.2 ms of processor per contact", cost.mid <= 2.2, cost.String())
	verdict(os.Stdout, "at most 7 kB of WAL per contact", wal.mid <= 7000, wal.String())
	return nil
}

func (p passed) milliseconds() float64 { return p.cpu.Seconds() * 1e3 / wayContacts }

// over returns the rates of ours as shares of those of the floor, by round.
func over(ours, floor []passed) []float64 {
	out := make([]float64, len(ours))
	for i := range ours {
		out[i] = ours[i].perSecond / floor[i].perSecond
	}
	return out
}

// measured runs one turn after the jobs of the last one are done.
func (s *way) measured(ctx context.Context, run func(context.Context) error) (p passed, err error) {
	if err := s.settled(ctx); err != nil {
		return p, err
	}
	s.receiver.reset()
	from, err := s.wal(ctx)
	if err != nil {
		return p, err
	}
	before, began := s.usage(ctx), time.Now()
	if err := run(ctx); err != nil {
		return p, err
	}
	p.perSecond = float64(s.n) / time.Since(began).Seconds()
	if err := s.settled(ctx); err != nil { // the jobs of a contact belong to its cost
		return p, err
	}
	p.cpu = s.usage(ctx).minus(before)
	to, err := s.wal(ctx)
	p.wal = (to - from) / float64(s.n)
	return p, err
}

// through posts contacts and waits until each one's delivery is committed.
func (s *way) through(ctx context.Context) error {
	clients := newClients(s.api.addr, wayClients)
	post := clients.poster(s.crowd)
	if err := s.all(func(worker int) error { return post(ctx, worker) }); err != nil {
		return err
	}
	return s.delivered(ctx, s.n)
}

// all has the clients make the calls of a turn.
func (s *way) all(call func(worker int) error) error {
	var left atomic.Int64
	left.Store(int64(s.n))
	errs := make([]error, wayClients)
	var wait sync.WaitGroup
	for worker := range wayClients {
		wait.Go(func() {
			for left.Add(-1) >= 0 && errs[worker] == nil {
				errs[worker] = call(worker)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (s *way) delivered(ctx context.Context, n int) error {
	_, err := s.arrived(ctx, n)
	return err
}

func (w *world) orgIDs() []id.ID {
	ids := make([]id.ID, len(w.orgs))
	for i, c := range w.orgs {
		ids[i] = c.org
	}
	return ids
}
