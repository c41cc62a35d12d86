package worker_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/imapsync"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
	"github.com/funnelwork/funnelwork/jobs/mailboxsync"
	"github.com/funnelwork/funnelwork/worker"
)

// neighbours runs all of the matrix, and more mails in each of its cells.
var neighbours = flag.Bool("neighbours.long", false, "run the whole matrix of neighbours")

const (
	badBoxes = 120             // servers of the neighbour's that misbehave
	promised = 2 * time.Second // within which the mail of another org is sent, and its jobs run
)

// outside is the arguments of a call of a server over HTTP.
type outside struct{ Host string }

// Kinds that call servers over HTTP, by the lane of the platform's kinds that do so.
var (
	hookCall  = queue.Define[outside]("test.hook", queue.Options{Lane: queue.Webhooks})
	loginCall = queue.Define[outside]("test.login", queue.Options{Lane: queue.Critical})
	modelCall = queue.Define[outside]("test.model", queue.Options{Lane: queue.Bulk})
	nameCall  = queue.Define[outside]("test.name", queue.Options{Lane: queue.Remote})
)

// street is a mailer with a neighbour whose servers misbehave.
type street struct {
	*mailer
	neighbour *mailer
}

func openStreet(t *testing.T) *street {
	t.Helper()
	s := &street{mailer: openMailer(t)}
	app := s.db.App
	house := *s.house
	house.org = id.New()
	neighbour := *s.mailer
	neighbour.house = &house
	s.neighbour = &neighbour
	s.exec(`INSERT INTO org (id, name) VALUES ($1, 'Neighbour') ON CONFLICT DO NOTHING`, house.org)
	client := outbound.New(outbound.Options{Policy: outbound.Policy{AllowPrivate: true}})
	handlers := append(postHandlers(app, s.emails.Box, nil), mark.HandleTx(markWork), mailboxsync.Job{
		Syncer: &imapsync.Syncer{
			DB: app, Mailboxes: s.emails.Mailboxes, Inbound: inboundmail.Intake(app, s.emails.Box), Log: s.log,
			Dialer: &imap.Dialer{AllowPrivate: true, Timeout: imapsync.Timeout, MaxReceived: imapsync.MaxReceived},
		},
	}.Handler())
	for _, k := range []queue.Kind[outside]{hookCall, loginCall, modelCall, nameCall} {
		handlers = append(handlers, k.Handle(func(ctx context.Context, run *queue.Run[outside]) error {
			if err := run.BeginCall(run.Args.Host); err != nil {
				return err
			}
			if a := client.Get(ctx, "http://"+run.Args.Host); a.Err != nil {
				return a.Err
			}
			return nil
		}))
	}
	s.work(worker.Options{Concurrency: 64, Grace: 100 * time.Millisecond}, handlers...)
	s.db.App = s.pushing() // for what the test adds: as the API does
	return s
}

// boxes makes mailboxes of the neighbour on a server, and returns them.
func (s *street) boxes(bad *badServer) (all []id.ID) {
	s.t.Helper()
	for i := range badBoxes {
		box := id.New()
		all = append(all, box)
		address := fmt.Sprintf("box%d@bad.example", i)
		s.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, smtp_host, smtp_port,
			smtp_tls, imap_host, imap_port, imap_tls, imap_username, status, created_at, updated_at)
			VALUES ($1, $2, 'Box', 'smtp', $3, $3, 'bad.example', $4, $5, 'none', $4, $5, 'none', 'ada', 'active',
			now(), now())`, s.neighbour.org, box, address, bad.host, bad.port)
		s.exec(`INSERT INTO mailbox_folder (org_id, mailbox_id, folder, next_sync_at)
			VALUES ($1, $2, 'INBOX', now() + interval '1 minute')`, s.neighbour.org, box)
	}
	return all
}

// disturb adds the jobs of the neighbour that call a server.
func (s *street) disturb(kind string, bad *badServer) {
	s.t.Helper()
	called := outside{net.JoinHostPort(bad.host, strconv.Itoa(bad.port))}
	var adds []func(context.Context, *postgres.Tx) error
	switch kind {
	case "imap sync":
		for _, box := range s.boxes(bad) {
			adds = append(adds, func(ctx context.Context, tx *postgres.Tx) error {
				return mailboxsync.Add(ctx, tx, box)
			})
		}
	case "smtp send":
		for i, box := range s.boxes(bad) {
			s.neighbour.mailbox = box
			s.neighbour.send(fmt.Sprintf("bad%d-", i), 2)
		}
	case "webhook":
		for range badBoxes {
			key := queue.ConcurrencyKey(id.New())
			adds = append(adds, adding(hookCall, called, key), adding(hookCall, called, key))
		}
	case "oauth refresh":
		adds = slices.Repeat(append(adds, adding(loginCall, called)), badBoxes)
	case "ai":
		adds = slices.Repeat(append(adds, adding(modelCall, called)), badBoxes)
	case "custom domain":
		adds = slices.Repeat(append(adds, adding(nameCall, called)), badBoxes)
	}
	s.addFor(s.neighbour.org, adds...)
}

// ownMails sends single mails one after the other, and returns how long each took, sorted.
func (s *street) ownMails(n int) (took []time.Duration) {
	s.t.Helper()
	for range n {
		before := len(s.server.Accepted())
		start := time.Now()
		s.send(fmt.Sprintf("own%d-", before), 1)
		sent := func() bool { return len(s.server.Accepted()) > before }
		s.until(giveUpAfter, "a mail of another org is sent", sent)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took
}

// ownJobs adds jobs whose work is rows, such as scores, one after the other, and returns how long each took, sorted.
func (s *street) ownJobs(n int) (took []time.Duration) {
	s.t.Helper()
	for range n {
		before := s.doneRows()
		start := time.Now()
		s.add(adding(mark, none{}))
		s.until(giveUpAfter, "a job of another org ran", func() bool { return s.doneRows() > before })
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took
}

// p99 is the shortest time that 99 % of all took at most; of few, all but one. A push that a busy machine loses costs
// its job three seconds, whoever the neighbours are.
func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)-1-max(1, len(sorted)/100)] }

func TestAnOrgWhoseServersMisbehaveDelaysNoOther(t *testing.T) {
	kinds := []string{"imap sync", "smtp send", "webhook", "oauth refresh", "ai", "custom domain"}
	hows, n := []string{"silent", "slow", "refusing", "huge"}, 100
	limit := promised
	if !*neighbours {
		kinds, hows, n = kinds[:2], hows[:1], 20
		limit = 15 * time.Second // CI runs it on a busy machine; without shares of calls it is a minute and more
	}
	for _, kind := range kinds {
		for _, how := range hows {
			t.Run(kind+", "+how, func(t *testing.T) {
				s, bad := openStreet(t), startBad(t, how)
				s.ownMails(1)
				s.disturb(kind, bad)
				if how != "refusing" {
					s.until(giveUpAfter, "the neighbour's server is called", func() bool { return bad.calls() > 3 })
				}
				mails, jobs := s.ownMails(n), s.ownJobs(n)
				t.Logf("%-14s %-9s: mails p50 %s, p99 %s; jobs p50 %s, p99 %s; %d calls of the neighbour", kind, how,
					mails[n/2].Round(time.Millisecond), p99(mails).Round(time.Millisecond),
					jobs[n/2].Round(time.Millisecond), p99(jobs).Round(time.Millisecond), bad.calls())
				if p99(mails) > limit || p99(jobs) > limit {
					t.Errorf("more than %s", limit)
				}
			})
		}
	}
}
