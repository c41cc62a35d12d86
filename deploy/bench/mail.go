package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

const (
	mailClients = 16
	mailOrgs    = 200
	mailRounds  = 3
	mailsARound = 6000
	// mailsCompared is the emails of a turn beside another commit.
	mailsCompared = 2000
	// mailContacts is how many contacts an org writes to.
	mailContacts = 3
	// mailsAConnection is how many mails the worker sends over one connection at most.
	mailsAConnection = 50
	// mailJobs is how many emails a worker without a setting sends at once, and the number of connections of the floor.
	mailJobs = 64
)

// post measures emails through one SMTP server: their rows, jobs and events, in separate processes.
type post struct {
	*exchange
	sink     string // address
	contacts [][]string
	boxes    []id.ID
	posted   atomic.Int64
	api      *process
	n        int // emails of a round
}

// mails measures how many emails a worker sends through one server that takes everything at once, beside a floor that
// only speaks SMTP over as many connections, and how long POST /crm/emails takes.
func mails(ctx context.Context, log *slog.Logger) error {
	p, err := openPost(ctx, log, mailsARound)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.steady(ctx); err != nil {
		return err
	}
	var service, floor, cpu, wal, floorCPU, shares, single, singleCPU []float64
	for round := range mailRounds + 1 {
		if err := p.write(ctx); err != nil {
			return err
		}
		sent, err := p.send(ctx)
		if err != nil {
			return err
		}
		bare, bareUsed, err := p.bare(ctx, mailsAConnection)
		if err != nil {
			return err
		}
		one, oneUsed, err := p.bare(ctx, 1)
		if err != nil {
			return err
		}
		if round > 0 { // the first one warms up
			service, floor = append(service, sent[rate]), append(floor, bare)
			shares, cpu = append(shares, sent[rate]/bare), append(cpu, sent[processorTime])
			wal, floorCPU = append(wal, sent[walBytes]), append(floorCPU, bareUsed)
			single, singleCPU = append(single, one), append(singleCPU, oneUsed)
		}
	}
	fmt.Printf("\n%d emails a round, %d at once; median [quartiles] of %d rounds\n", mailsARound, mailJobs, mailRounds)
	fmt.Printf("only SMTP             per second %s, processor us a mail %s\n", spreadOf(floor), spreadOf(floorCPU))
	fmt.Printf("a connection a mail   per second %s, processor us a mail %s\n", spreadOf(single), spreadOf(singleCPU))
	fmt.Printf("the service           per second %s, of the floor %s, processor us a mail %s, WAL bytes %s\n",
		spreadOf(service), spreadOf(shares), spreadOf(cpu), spreadOf(wal))
	verdict(os.Stdout, "at least 600 emails per second", spreadOf(service).mid >= 600,
		fmt.Sprintf("%.0f", spreadOf(service).mid))
	return nil
}

// openPost starts the service for rounds of n emails. The caller must call close.
func openPost(ctx context.Context, log *slog.Logger, n int) (p *post, err error) {
	w, err := newWorld(ctx, log, mailOrgs)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	p = &post{exchange: &exchange{world: w}, n: n}
	if p.sink, err = w.startSink(ctx); err != nil {
		return nil, err
	}
	if p.api, err = w.start(ctx, "api", mailSetting); err != nil {
		return nil, err
	}
	return p, p.furnish(ctx)
}

// figures is one turn beside another commit.
func (p *post) figures(ctx context.Context) (figures, error) {
	if err := p.write(ctx); err != nil {
		return nil, err
	}
	return p.send(ctx)
}

const mailSetting = "FUNNELWORK_MAIL_ALLOW_PRIVATE=true"

// furnish gives each org a mailbox on the sink, and contacts.
func (p *post) furnish(ctx context.Context) error {
	cl := newClients(p.api.addr, 1)
	host, port, err := net.SplitHostPort(p.sink)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	for _, c := range p.world.orgs {
		box := id.New()
		if _, err := p.admin.Exec(ctx, `INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded,
				from_domain,
				smtp_host, smtp_port, smtp_tls, status, created_at, updated_at)
			VALUES ($1, $2, 'Box', 'smtp', 'a@shop.example', 'a@shop.example', 'shop.example', $3, $4, 'none', 'active',
				now(), now())`, c.org, box, host, number); err != nil {
			return err
		}
		var some []string
		for range mailContacts {
			one, err := cl.post(c, newMark())
			if err != nil {
				return err
			}
			some = append(some, one)
		}
		p.contacts, p.boxes = append(p.contacts, some), append(p.boxes, box)
	}
	return nil
}

// body returns the request for the n-th email of the org with the given index.
func (p *post) body(org, n int) []byte {
	return fmt.Appendf(nil, `{"contact_id":%q,"mailbox_id":%q,"subject":"Hello {{ contact.first_name }}",`+
		`"text":"Good day {{ contact.first_name }},\n%s","html":"<p>Good day {{ contact.first_name }},</p><p>%s</p>"}`,
		p.contacts[org][n%len(p.contacts[org])], p.boxes[org], strings.Repeat("we have looms. ", 40),
		strings.Repeat("we have looms. ", 40))
}

// one posts the next email.
func (p *post) one(cl clients, worker int) error {
	n := int(p.posted.Add(1))
	org := n % len(p.world.orgs)
	return cl.call(worker, p.world.orgs[org].key, fasthttp.MethodPost, "/api/v1/crm/emails",
		p.body(org, n/len(p.world.orgs)), fasthttp.StatusCreated, nil)
}

// steady measures POSTs at a steady rate while a worker sends the emails.
func (p *post) steady(ctx context.Context) error {
	worker, err := p.world.start(ctx, "worker", mailSetting)
	if err != nil {
		return err
	}
	defer worker.stop()
	cl := newClients(p.api.addr, mailClients)
	if err := p.one(cl, 0); err != nil { // so that a fault is named once
		return err
	}
	for round := range 2 {
		took, err := open(ctx, 60, 8*time.Second, mailClients, func(worker, _ int) error { return p.one(cl, worker) })
		if err != nil {
			return err
		}
		if round > 0 { // the first round warms up
			percentiles("POST /crm/emails, 60 per second, worker running", took)
			p99 := quantile(took, .99)
			verdict(os.Stdout, "p99 at most 20 ms", p99 <= 20*time.Millisecond, short(p99))
		}
	}
	return p.sent(ctx)
}

// write posts the emails of a round while no worker runs.
func (p *post) write(ctx context.Context) error {
	cl := newClients(p.api.addr, mailClients)
	var (
		all  sync.WaitGroup
		errs = make([]error, mailClients)
	)
	for w := range mailClients {
		all.Go(func() {
			for range p.n / mailClients {
				if errs[w] = errors.Join(p.one(cl, w), ctx.Err()); errs[w] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// sent waits until every email is sent.
func (p *post) sent(ctx context.Context) error {
	for {
		var open, failed int
		if err := p.admin.QueryRow(ctx, `SELECT count(*) FILTER (WHERE status IN ('planned', 'transmitting')),
			count(*) FILTER (WHERE status NOT IN ('planned', 'transmitting'))
			FROM email WHERE status NOT IN ('sent', 'cancelled')`).Scan(&open, &failed); err != nil {
			return err
		}
		if failed > 0 {
			return fmt.Errorf("%d emails failed", failed)
		}
		if open == 0 {
			return nil
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return fmt.Errorf("%d emails are left: %w", open, err)
		}
	}
}

// send has a worker send the emails of a round. It returns the rate between the first and the last mark, and of an
// email the processor time of worker and servers, and the WAL.
func (p *post) send(ctx context.Context) (f figures, err error) {
	began := time.Now()
	if p.worker, err = p.world.start(ctx, "worker", mailSetting); err != nil {
		return nil, err
	}
	defer p.worker.stop()
	if err := p.know(ctx); err != nil {
		return nil, err
	}
	before := p.usage(ctx)
	wrote, err := p.wal(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.sent(ctx); err != nil {
		return nil, err
	}
	all := p.usage(ctx).minus(before)
	written, err := p.wal(ctx)
	if err != nil {
		return nil, err
	}
	var (
		n    int
		took float64
	)
	if err := p.admin.QueryRow(ctx, `SELECT count(*), extract(epoch FROM max(marked_at) - min(marked_at)) FROM email
		WHERE marked_at > $1`, began).Scan(&n, &took); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%.0f per second, processor time an email: %s\n", float64(n)/took, all.of(n))
	return figures{
		rate: float64(n) / took, processorTime: all.Seconds() * 1e6 / float64(n),
		walBytes: (written - wrote) / float64(n),
	}, nil
}

// bare speaks SMTP only: as many connections at once as the worker has, each for the given number of mails.
func (p *post) bare(ctx context.Context, mails int) (rate, used float64, err error) {
	host, port, _ := net.SplitHostPort(p.sink)
	number, _ := strconv.Atoi(port)
	dialer := transport.Dialer{AllowPrivate: true}
	mime := []byte("From: a@shop.example\r\nTo: c@example.com\r\nSubject: Hello\r\n\r\n" +
		strings.Repeat("Good day Ada, we have looms.\r\n", 120))
	some := func(n int) error {
		conn, failed := dialer.Connect(ctx, transport.Server{Host: host, Port: number, TLS: transport.Plain})
		if failed != nil {
			return failed.Err
		}
		for range n {
			r := conn.Send(ctx, transport.Envelope{From: "a@shop.example", To: "c@example.com"}, mime,
				func(context.Context) error { return nil })
			if r.Outcome != transport.Sent {
				return errors.Join(fmt.Errorf("the sink did not take a mail: %s", r.Reply), r.Err)
			}
		}
		return conn.Close()
	}
	var (
		all  sync.WaitGroup
		errs = make([]error, mailJobs)
	)
	before, began := p.usage(ctx)[here], time.Now()
	for w := range mailJobs {
		all.Go(func() {
			for left := mailsARound / mailJobs; left > 0 && errs[w] == nil; left -= mails {
				errs[w] = some(min(mails, left))
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	spent := (p.usage(ctx)[here] - before).Seconds() * 1e6 / mailsARound
	return mailsARound / took.Seconds(), spent, errors.Join(errs...)
}
