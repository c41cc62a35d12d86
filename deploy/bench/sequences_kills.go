package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	killMails = 60 // of a round with one kill, which comes after killAfter of them
	killAfter = 20
	floodSize = 600 // mails of the round with many kills
	killDelay = 10 * time.Millisecond
	killLimit = 2 * time.Minute // of a round
)

// floods are the numbers of stored mails after which the sender is killed in the round with many kills.
func floods() []int { return []int{25, 70, 110, 190, 250, 330, 420, 530} }

// sender is what is killed. Its fields with SQL are statements for a superuser.
type sender struct {
	name  string
	load  func(ctx context.Context, to []string) error // makes a mail to each address due
	start func(ctx context.Context) (*process, error)
	// locked is a table that it writes when it records that a mail was sent.
	locked string
	later  string // moves its times minutes back
	over   string // reports whether it has nothing left to do
	state  string // what it has left, for a person
	shown  string // the addresses whose mails it does not show as sent
}

// fate is what became of the mails of a round.
type fate struct{ doubled, lost, shown int }

func (f *fate) add(o fate) {
	f.doubled, f.lost, f.shown = f.doubled+o.doubled, f.lost+o.lost, f.shown+o.shown
}

// killing is the servers of the rounds.
type killing struct {
	*world
	sink   *recorder
	holder *pgx.Conn // holds the lock at a kill after the reply
	pids   []int32   // of the bench's own sessions
	rounds int
}

// sequencesKilled kills senders of the rules of listmonk and of Notifuse, and a worker that executes a sequence, at the
// same moments, and counts whose mails the same server has twice, or never although nothing says so.
func sequencesKilled(ctx context.Context, log *slog.Logger) error {
	w, err := newWorld(ctx, log, 1)
	if err != nil {
		return err
	}
	defer w.close()
	k := &killing{world: w}
	if k.sink, err = w.record(ctx); err != nil {
		return err
	}
	if k.holder, err = pgx.Connect(ctx, w.postgres.URL); err != nil {
		return err
	}
	defer func() { _ = k.holder.Close(context.WithoutCancel(ctx)) }()
	for _, conn := range []*pgx.Conn{w.admin, k.holder} {
		k.pids = append(k.pids, int32(conn.PgConn().PID()))
	}
	if _, err := w.admin.Exec(ctx, modelTables); err != nil {
		return err
	}
	ours, err := k.ours(ctx)
	if err != nil {
		return err
	}
	all := []*sender{k.listmonk(), k.notifuse(), ours}
	sums := make([]fate, len(all))
	for _, at := range []point{atGreeting, atRecipient, atBody, atDotLost, atDotStored, atReply, ""} {
		title := fmt.Sprintf("%d mails, killed after %d, %s", killMails, killAfter, at)
		if at == "" {
			title = fmt.Sprintf("%d mails, killed %d times", floodSize, len(floods()))
		}
		fmt.Printf("\n%s\n", title)
		for i, s := range all {
			f, err := k.round(ctx, s, at)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, title, err)
			}
			sums[i].add(f)
			fmt.Printf("  %-16s %s\n", s.name, f)
		}
	}
	fmt.Println("\nall")
	for i, s := range all {
		fmt.Printf("  %-16s %s\n", s.name, sums[i])
	}
	for i, s := range all {
		if i < 2 {
			verdict(os.Stdout, s.name+" doubles or loses", sums[i].doubled+sums[i].lost > 0, sums[i].String())
			continue
		}
		verdict(os.Stdout, s.name+": none doubled, none lost", sums[i].doubled+sums[i].lost == 0, sums[i].String())
	}
	return nil
}

func (f fate) String() string {
	return fmt.Sprintf("%d doubled, %d lost, %d shown as not sent", f.doubled, f.lost, f.shown)
}

// round has a sender send mails to new addresses, kills it, lets minutes pass, and starts it again until it is over.
func (k *killing) round(ctx context.Context, s *sender, at point) (fate, error) {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	k.rounds++
	to := make([]string, killMails)
	if at == "" {
		to = make([]string, floodSize)
	}
	for i := range to {
		to[i] = fmt.Sprintf("p@r%d-%d.example", k.rounds, i)
	}
	if err := s.load(ctx, to); err != nil {
		return fate{}, err
	}
	var err error
	if at == "" {
		err = k.often(ctx, s)
	} else {
		err = k.once(ctx, s, at)
	}
	if err != nil {
		return fate{}, err
	}
	return k.fate(ctx, s, to)
}

// once kills a sender at a point.
func (k *killing) once(ctx context.Context, s *sender, at point) error {
	running, killed := make(chan *process, 1), make(chan error, 1)
	after := killAfter
	if at == atGreeting {
		after = 0
	}
	kill := func() {
		p := <-running
		killed <- k.kill(ctx, p)
	}
	k.sink.delay = 0
	hold := func() func() { return k.hold(ctx, s, running, killed) }
	k.sink.await(&stop{at: at, after: after, kill: kill, hold: hold})
	p, err := s.start(ctx)
	if err != nil {
		return err
	}
	running <- p
	select {
	case err = <-killed:
	case <-ctx.Done():
		err = errors.New("the point was never reached")
	}
	if err != nil {
		return err
	}
	return k.restart(ctx, s)
}

// often kills a sender whenever the server has stored some more mails.
func (k *killing) often(ctx context.Context, s *sender) error {
	k.sink.delay = killDelay
	k.sink.await(nil)
	p, err := s.start(ctx)
	if err != nil {
		return err
	}
	for _, after := range floods() {
		for stored, _ := k.sink.count(); stored < after; stored, _ = k.sink.count() {
			if over, err := k.isOver(ctx, s); err != nil || over {
				return errors.Join(err, k.kill(ctx, p))
			}
			if err := pause(ctx, 2*time.Millisecond); err != nil {
				return err
			}
		}
		if err := k.kill(ctx, p); err != nil {
			return err
		}
		if _, err := k.admin.Exec(ctx, s.later); err != nil {
			return err
		}
		if p, err = s.start(ctx); err != nil {
			return err
		}
	}
	if err := k.kill(ctx, p); err != nil {
		return err
	}
	return k.restart(ctx, s)
}

// hold locks the table in which a sender records what it has sent. The function that it returns waits until the sender
// waits for the lock, and kills it.
func (k *killing) hold(ctx context.Context, s *sender, running <-chan *process, killed chan<- error) (kill func()) {
	_, locked := k.holder.Exec(ctx, "BEGIN; LOCK TABLE "+s.locked+" IN SHARE MODE")
	return func() {
		p := <-running
		for range 100 { // a sender that records nothing never waits
			var waits bool
			if err := k.holder.QueryRow(ctx, `SELECT count(*) > 0 FROM pg_stat_activity, pg_sleep(0.01)
				WHERE wait_event_type = 'Lock'`).Scan(&waits); err != nil || waits {
				break
			}
		}
		err := errors.Join(locked, k.kill(ctx, p))
		_, ended := k.holder.Exec(ctx, "ROLLBACK")
		killed <- errors.Join(err, ended)
	}
}

// kill kills a process and ends its sessions, as if Postgres had not got the statement that waits for a lock.
func (k *killing) kill(ctx context.Context, p *process) error {
	_ = p.cmd.Process.Kill()
	<-p.gone
	_, err := k.holder.Exec(ctx, `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> ALL ($1)`, k.pids)
	return err
}

// restart lets minutes pass, starts the sender, and ends it when it is over.
func (k *killing) restart(ctx context.Context, s *sender) error {
	if _, err := k.admin.Exec(ctx, s.later); err != nil {
		return err
	}
	p, err := s.start(ctx)
	if err != nil {
		return err
	}
	for {
		over, err := k.isOver(ctx, s)
		if err == nil && !over {
			err = pause(ctx, 20*time.Millisecond)
		}
		if ctx.Err() != nil {
			return k.explain(context.WithoutCancel(ctx), s)
		}
		if err != nil || over {
			return errors.Join(err, k.kill(ctx, p))
		}
	}
}

// explain returns an error with the state of a sender that is never over.
func (k *killing) explain(ctx context.Context, s *sender) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, k.postgres.URL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var state string
	err = conn.QueryRow(ctx, s.state).Scan(&state)
	return errors.Join(fmt.Errorf("not over after %s: %s", killLimit, state), err)
}

func (k *killing) isOver(ctx context.Context, s *sender) (over bool, err error) {
	err = k.admin.QueryRow(ctx, s.over).Scan(&over)
	return over, err
}

// fate compares what the server has with what the sender shows.
func (k *killing) fate(ctx context.Context, s *sender, to []string) (f fate, err error) {
	rows, _ := k.admin.Query(ctx, s.shown)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return f, err
	}
	shown := make(map[string]bool, len(all))
	for _, address := range all {
		shown[address] = true
	}
	_, f.doubled = k.sink.count()
	for _, address := range to {
		switch {
		case shown[address]:
			f.shown++
		case !k.sink.has(address):
			f.lost++
		}
	}
	return f, nil
}

// child starts this program as a model.
func (k *killing) child(ctx context.Context, name string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "model", name, k.postgres.URL, k.sink.address)
	p := &process{cmd: cmd, gone: make(chan struct{})}
	p.cmd.Stderr, p.cmd.SysProcAttr = os.Stderr, diesWithParent()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.gone)
	}()
	return p, nil
}
