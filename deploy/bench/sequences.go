package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/jobs/sequenceenroll"
)

// outreachOrgs is how many orgs there are: the large one, a small one, and those that read a contact meanwhile.
const outreachOrgs = 100

// outreach is an org with many contacts, and a small one, each with a sequence and a mailbox on a server that takes
// everything.
type outreach struct {
	*world
	app      *postgres.DB
	contacts int
	segment  id.ID // a tenth of the contacts of the large org
	steps    [2]id.ID
	boxes    [2]id.ID
	worker   *process
	api      *process
}

// sequencesBench measures sequences at n contacts: how fast a tenth of them is enrolled and what that costs others,
// what a look at closed windows costs, how soon due steps are marked, and whether a small org waits for a large one.
func sequencesBench(ctx context.Context, log *slog.Logger, n int) error {
	w, err := newWorld(ctx, log, outreachOrgs)
	if err != nil {
		return err
	}
	defer w.close()
	o := &outreach{world: w, contacts: n}
	options := postgres.Options{URL: w.postgres.URL, Role: postgres.App, MaxConns: 4}
	if o.app, err = postgres.Open(ctx, options); err != nil {
		return err
	}
	defer o.app.Close()
	if err := o.build(ctx); err != nil {
		return err
	}
	if o.api, err = w.start(ctx, "api"); err != nil {
		return err
	}
	defer o.api.stop()
	if o.worker, err = w.start(ctx, "worker", mailSetting); err != nil {
		return err
	}
	defer func() { o.worker.stop() }()
	for _, part := range []func(context.Context) error{o.enrol, o.due, o.fair} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	o.worker.stop()
	return o.closed(ctx)
}

// enrol enrols the segment by the job, beside requests of the small org.
func (o *outreach) enrol(ctx context.Context) error {
	cl := newClients(o.api.addr, 4)
	get := func(worker, i int) error {
		small := o.orgs[2+i%(outreachOrgs-2)]
		return cl.call(worker, small.key, fasthttp.MethodGet, "/api/v1/crm/contacts/"+small.contact.String(), nil,
			fasthttp.StatusOK, nil)
	}
	const rate = 60
	if _, err := open(ctx, rate, 2*time.Second, 4, get); err != nil { // warms up
		return err
	}
	quiet, err := open(ctx, rate, 10*time.Second, 4, get)
	if err != nil {
		return err
	}
	service := &enrolments.Service{Suppressions: &suppression.Service{}}
	began := time.Now()
	if err := o.app.Tx(ctx, o.orgs[0].org, func(tx *postgres.Tx) error {
		b, err := service.StartBatch(ctx, tx, &enrolments.BatchRequest{
			Request: enrolments.Request{Sequence: o.steps[0]}, Segment: &o.segment,
		})
		if err != nil {
			return err
		}
		return sequenceenroll.Kind.Add(ctx, tx, sequenceenroll.Args{Batch: b.ID})
	}); err != nil {
		return err
	}
	var took time.Duration
	most, failed := 0, error(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for took == 0 && failed == nil {
			var status string
			var pushed int
			failed = o.admin.QueryRow(ctx, `SELECT b.status, (SELECT count(*) FROM job WHERE wake_at IS NOT NULL)
				FROM enrolment_batch b, pg_sleep(0.05)`).Scan(&status, &pushed)
			if most = max(most, pushed); status == enrolments.Completed {
				took = time.Since(began)
			}
		}
	}()
	busy, err := open(ctx, rate, 10*time.Second, 4, get)
	<-done
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	slices.Sort(busy)
	a, b := quantile(quiet, .95), quantile(busy, .95)
	fmt.Printf("\nenrolment of %d of %d contacts: %s; others' p95 %s, meanwhile %s; at most %d jobs in Redis\n",
		o.contacts/10, o.contacts, short(took), short(a), short(b), most)
	verdict(os.Stdout, fmt.Sprintf("%d enrolled within 15 s", o.contacts/10), took <= 15*time.Second, short(took))
	verdict(os.Stdout, "others' p95 at most 20 % slower", float64(b) <= 1.2*float64(a),
		fmt.Sprintf("%.2f", float64(b)/float64(a)))
	verdict(os.Stdout, "at most 200 jobs in Redis", most <= 200, strconv.Itoa(most))
	return nil
}

// due lets steps become due one by one, and measures how soon each is marked.
func (o *outreach) due(ctx context.Context) error {
	const n = 1000
	if _, err := o.admin.Exec(ctx, `
		CREATE TABLE bench_due AS SELECT id, clock_timestamp() + interval '3 s' + row_number() OVER () *
			interval '20 ms' AS at
			FROM (SELECT id FROM enrolment WHERE org_id = $1 LIMIT $2) x`, o.orgs[0].org, n); err != nil {
		return err
	}
	const makeDue = `UPDATE enrolment e SET due_at = d.at FROM bench_due d WHERE e.id = d.id`
	if err := o.openWindows(ctx, 0, makeDue); err != nil {
		return err
	}
	var marked int
	for begun := time.Now(); marked < n && time.Since(begun) < time.Minute; {
		if err := o.admin.QueryRow(ctx, `SELECT count(*) FROM email e JOIN bench_due d ON d.id = e.enrolment_id,
			pg_sleep(0.5) WHERE e.marked_at IS NOT NULL`).Scan(&marked); err != nil {
			return err
		}
	}
	if marked == 0 {
		return errors.New("no step was marked")
	}
	var p50, p95, p99 float64
	if err := o.admin.QueryRow(ctx, `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s),
			percentile_cont(0.95) WITHIN GROUP (ORDER BY s), percentile_cont(0.99) WITHIN GROUP (ORDER BY s)
		FROM (SELECT extract(epoch FROM e.marked_at - d.at) AS s FROM email e JOIN bench_due d ON d.id = e.enrolment_id
			WHERE e.marked_at IS NOT NULL) x`).Scan(&p50, &p95, &p99); err != nil {
		return err
	}
	fmt.Printf("\ndue to marked, %d steps at 50 per second: p50 %.2f s, p95 %.2f s, p99 %.2f s\n", marked, p50, p95,
		p99)
	verdict(os.Stdout, "p95 at most 2 s", marked == n && p95 <= 2, fmt.Sprintf("%.2f s", p95))
	return nil
}

// fair makes every step of the large org due, then ten of the small one.
func (o *outreach) fair(ctx context.Context) error {
	if err := o.fill(ctx); err != nil {
		return err
	}
	if err := o.openWindows(ctx, 0, `UPDATE enrolment SET due_at = clock_timestamp() WHERE due_at IS NOT NULL
		AND org_id = '`+o.orgs[0].org.String()+`'`); err != nil {
		return err
	}
	if _, err := o.admin.Exec(ctx, `SELECT pg_sleep(5)`); err != nil { // the large org is being served
		return err
	}
	began := time.Now()
	if err := o.openWindows(ctx, 1, `UPDATE enrolment SET due_at = clock_timestamp() WHERE due_at IS NOT NULL
		AND org_id = '`+o.orgs[1].org.String()+`'`); err != nil {
		return err
	}
	var large, small int
	for small < 10 && time.Since(began) < time.Minute {
		if err := o.admin.QueryRow(ctx, `SELECT count(*) FILTER (WHERE org_id = $1), count(*) FILTER (WHERE org_id = $2)
			FROM email, pg_sleep(0.05) WHERE marked_at IS NOT NULL`, o.orgs[0].org, o.orgs[1].org).
			Scan(&large, &small); err != nil {
			return err
		}
	}
	took := time.Since(began)
	fmt.Printf("\nfairness: the small org's 10 after %s, while the large one of %d due had sent %d\n", short(took),
		o.contacts, large)
	verdict(os.Stdout, "within 5 s", small >= 10 && took <= 5*time.Second, short(took))
	return nil
}

// closed measures ticks of the large org while all windows are closed.
func (o *outreach) closed(ctx context.Context) error {
	keys, err := secret.Generate()
	if err != nil {
		return err
	}
	box, err := secret.Parse(keys)
	if err != nil {
		return err
	}
	engine := newEngine(box)
	groups, due, err := o.closeWindows(ctx)
	if err != nil {
		return err
	}
	before, err := o.fingerprint(ctx)
	if err != nil {
		return err
	}
	var looks, idles []time.Duration
	for range 9 {
		if _, err := o.admin.Exec(ctx, `UPDATE send_group SET wake_at = now() WHERE org_id = $1`,
			o.orgs[0].org); err != nil {
			return err
		}
		for _, took := range []*[]time.Duration{&looks, &idles} {
			began := time.Now()
			if err := o.app.Tx(ctx, o.orgs[0].org, func(tx *postgres.Tx) error {
				return engine.Tick(ctx, tx)
			}); err != nil {
				return err
			}
			*took = append(*took, time.Since(began))
		}
	}
	after, err := o.fingerprint(ctx)
	if err != nil {
		return err
	}
	slices.Sort(looks)
	slices.Sort(idles)
	fmt.Printf("\ntick at %d enrolments, %d due behind closed windows of %d groups: all groups %s, later %s; "+
		"p95 %s, %s\n",
		o.contacts, due, groups, short(quantile(looks, .5)), short(quantile(idles, .5)), short(quantile(looks, .95)),
		short(quantile(idles, .95)))
	verdict(os.Stdout, "at most 20 ms", quantile(looks, .5) <= 20*time.Millisecond, short(quantile(looks, .5)))
	verdict(os.Stdout, "no enrolment is rewritten", before == after, strconv.FormatBool(before == after))
	return nil
}
