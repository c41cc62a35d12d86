package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// outreachOrgs is how many orgs there are: the large one, a small one, and those that read a contact meanwhile.
const outreachOrgs = 100

// outreach is an org with many contacts, and a small one, each with a sequence and a mailbox on a server that takes
// everything.
type outreach struct {
	*exchange
	app      *postgres.DB
	contacts int
	segment  id.ID // a tenth of the contacts of the large org
	steps    [2]id.ID
	boxes    [2]id.ID
	api      *process
	box      *secret.Sealer // of the worker's keyset
	whole    bool           // the contacts of both orgs are enrolled
}

// sequencesParts are the sections at many contacts, in their order.
var sequencesParts = []struct {
	name string
	run  func(*outreach, context.Context) error
}{
	{"enrol", (*outreach).enrol},
	{"due", (*outreach).due},
	{"fair", (*outreach).fair},
	{"closed", (*outreach).closed},
}

// sequencesArgs returns the number of contacts and the sections that an argument names.
func sequencesArgs(arg string) (n int, names []string, err error) {
	n, names, err = crmArgs(arg)
	for _, name := range names {
		known := name == "kills"
		for _, part := range sequencesParts {
			known = known || part.name == name
		}
		if !known {
			err = errUsage
		}
	}
	return n, names, err
}

// sequencesBench runs the named sections, or all if there are no names. kills is one of them; the others measure
// sequences at n contacts: how fast a tenth of them is enrolled and what that costs others, how soon due steps are
// marked, whether a small org waits for a large one, and what a look at closed windows costs.
func sequencesBench(ctx context.Context, log *slog.Logger, n int, names []string) error {
	if len(names) == 0 || slices.Contains(names, "kills") {
		if err := sequencesKilled(ctx, log); err != nil {
			return fmt.Errorf("kills: %w", err)
		}
		if len(names) == 1 {
			return nil
		}
	}
	w, err := newWorld(ctx, log, outreachOrgs)
	if err != nil {
		return err
	}
	defer w.close()
	o := &outreach{exchange: &exchange{world: w}, contacts: n}
	if o.app, err = postgres.Open(ctx, postgres.Options{
		URL: w.postgres.URL, Role: postgres.App, MaxConns: 1, Name: "ticks",
	}); err != nil {
		return err
	}
	defer o.app.Close()
	if err := o.build(ctx); err != nil {
		return err
	}
	keys, err := secret.Generate()
	if err != nil {
		return err
	}
	if o.box, err = secret.Parse(keys); err != nil {
		return err
	}
	keys = "FUNNELWORK_KEYSET=" + keys
	if o.api, err = w.start(ctx, "api", keys); err != nil {
		return err
	}
	if o.worker, err = w.start(ctx, "worker", mailSetting, keys); err != nil {
		return err
	}
	if err := o.know(ctx); err != nil {
		return err
	}
	o.known.api = o.api.cmd.Process.Pid
	for _, part := range sequencesParts {
		if len(names) > 0 && !slices.Contains(names, part.name) {
			continue
		}
		fmt.Printf("\n== %s, load %s\n", part.name, loadNow())
		if err := part.run(o, ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// loadNow returns the load averages of the machine; "" if there is no /proc.
func loadNow() string {
	all, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(all))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// enrol enrols the segment by the job, beside requests of the small org.
func (o *outreach) enrol(ctx context.Context) error {
	cl := newClients(o.api.addr, 4)
	get := func(worker, i int) error {
		small := o.world.orgs[2+i%(outreachOrgs-2)]
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
	before, written := o.usage(ctx), o.wal(ctx)
	began := time.Now()
	if err := cl.call(0, o.world.orgs[0].key, fasthttp.MethodPost, "/api/v1/sequences/"+o.steps[0].String()+"/enroll",
		[]byte(`{"segment":"`+o.segment.String()+`"}`), fasthttp.StatusAccepted, nil); err != nil {
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
	// At most as long as the enrolment takes at its pace, so that fewer contacts do not mean a quieter time.
	busy, err := open(ctx, rate, min(10*time.Second, time.Duration(o.contacts/10)*130*time.Microsecond), 4, get)
	<-done
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	slices.Sort(busy)
	a, b := quantile(quiet, .95), quantile(busy, .95)
	fmt.Printf("enrolment of %d of %d contacts: %s; others' p95 %s, meanwhile %s; at most %d jobs in Redis\n",
		o.contacts/10, o.contacts, short(took), short(a), short(b), most)
	fmt.Printf("an enrolment, with the requests meanwhile: processor %s, WAL %.0f bytes\n",
		o.usage(ctx).minus(before).of(o.contacts/10), (o.wal(ctx)-written)/float64(o.contacts/10))
	verdict(os.Stdout, fmt.Sprintf("%d enrolled within 15 s", o.contacts/10), took <= 15*time.Second, short(took))
	verdict(os.Stdout, "others' p95 at most 20 % slower", float64(b) <= 1.2*float64(a),
		fmt.Sprintf("%.2f", float64(b)/float64(a)))
	verdict(os.Stdout, "at most 200 jobs in Redis", most <= 200, strconv.Itoa(most))
	return o.besideRows(ctx, func() ([]time.Duration, error) { return open(ctx, rate, 10*time.Second, 4, get) }, a,
		took)
}

// due lets steps become due one by one, and measures how soon each is marked.
func (o *outreach) due(ctx context.Context) error {
	const n = 1000
	if err := o.fill(ctx); err != nil {
		return err
	}
	const makeDue = `UPDATE enrolment e SET due_at = d.at FROM bench_due d WHERE e.id = d.id AND e.org_id = $1`
	looked, err := o.reads(ctx)
	if err != nil {
		return err
	}
	if _, err := o.admin.Exec(ctx, `
		CREATE TABLE bench_due AS SELECT id, clock_timestamp() + interval '3 s' + row_number() OVER () *
			interval '20 ms' AS at
			FROM (SELECT id FROM enrolment WHERE org_id = $1 AND due_at > now() LIMIT $2) x`, o.world.orgs[0].org,
		n); err != nil {
		return err
	}
	if err := o.openWindows(ctx, 0, makeDue); err != nil {
		return err
	}
	before, written := o.usage(ctx), o.wal(ctx)
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
	used, wal := o.usage(ctx).minus(before), o.wal(ctx)-written
	var all, made []float64
	if err := o.admin.QueryRow(ctx, `SELECT percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY s),
			percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY w)
		FROM (SELECT extract(epoch FROM e.marked_at - d.at)::float8 AS s,
				extract(epoch FROM e.created_at - d.at)::float8 AS w
			FROM email e JOIN bench_due d ON d.id = e.enrolment_id WHERE e.marked_at IS NOT NULL) x`).
		Scan(&all, &made); err != nil {
		return err
	}
	fmt.Printf("due to marked, %d steps at 50 per second: p50 %.2f s, p95 %.2f s, p99 %.2f s; to the email's row p50 "+
		"%.2f s, p95 %.2f s\n", marked, all[0], all[1], all[2], made[0], made[1])
	now, err := o.reads(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("a step: processor %s, WAL %.0f bytes; read: %s\n", used.of(marked), wal/float64(marked),
		now.since(looked, marked))
	verdict(os.Stdout, "p95 at most 2 s", marked == n && all[1] <= 2, fmt.Sprintf("%.2f s", all[1]))
	return nil
}

// fair makes every step of the large org due, then ten of the small one.
func (o *outreach) fair(ctx context.Context) error {
	if err := o.fill(ctx); err != nil {
		return err
	}
	var before, sent int
	if err := o.admin.QueryRow(ctx, `SELECT count(*) FROM email WHERE marked_at IS NOT NULL`).
		Scan(&before); err != nil {
		return err
	}
	const allDue = `UPDATE enrolment SET due_at = clock_timestamp() WHERE due_at IS NOT NULL AND org_id = $1`
	if err := o.openWindows(ctx, 0, allDue); err != nil {
		return err
	}
	opened := time.Now()
	looked, err := o.reads(ctx) // takes a while, in which the large org is being served
	if err != nil {
		return err
	}
	began := time.Now()
	if err := o.openWindows(ctx, 1, allDue); err != nil {
		return err
	}
	var large, small int
	for small < 10 && time.Since(began) < time.Minute {
		if err := o.admin.QueryRow(ctx, `SELECT count(*) FILTER (WHERE org_id = $1), count(*) FILTER (WHERE org_id = $2)
			FROM email, pg_sleep(0.05) WHERE marked_at IS NOT NULL`, o.world.orgs[0].org, o.world.orgs[1].org).
			Scan(&large, &small); err != nil {
			return err
		}
	}
	took := time.Since(began)
	now, err := o.reads(ctx)
	if err != nil {
		return err
	}
	if err := o.admin.QueryRow(ctx, `SELECT count(*) FROM email WHERE marked_at IS NOT NULL`).Scan(&sent); err != nil {
		return err
	}
	fmt.Printf("with all due, for each mail that was sent in %s, read: %s\n", short(time.Since(opened)),
		now.since(looked, sent-before))
	fmt.Printf("fairness: the small org's 10 after %s, while the large one of %d due had sent %d\n", short(took),
		o.contacts, large)
	verdict(os.Stdout, "within 5 s", small >= 10 && took <= 5*time.Second, short(took))
	return nil
}

// closed measures ticks of the large org while all windows are closed, from the moment at which they close.
func (o *outreach) closed(ctx context.Context) error {
	o.worker.stop()
	if err := o.fill(ctx); err != nil {
		return err
	}
	engine := newEngine(o.box)
	groups, due, err := o.closeWindows(ctx)
	if err != nil {
		return err
	}
	before, err := o.fingerprint(ctx)
	if err != nil {
		return err
	}
	const rounds = 9
	blocks, used := o.blocks(ctx), o.usage(ctx)
	var looks, idles []time.Duration
	for range rounds {
		if _, err := o.admin.Exec(ctx, `UPDATE send_group SET wake_at = now() WHERE org_id = $1`,
			o.world.orgs[0].org); err != nil {
			return err
		}
		for _, took := range []*[]time.Duration{&looks, &idles} {
			began := time.Now()
			if err := o.app.Tx(ctx, o.world.orgs[0].org, func(tx *postgres.Tx) error {
				return engine.Tick(ctx, tx)
			}); err != nil {
				return err
			}
			*took = append(*took, time.Since(began))
		}
	}
	spent := o.usage(ctx).minus(used)
	if err := pause(ctx, flushed); err != nil {
		return err
	}
	blocks = o.blocks(ctx) - blocks
	after, err := o.fingerprint(ctx)
	if err != nil {
		return err
	}
	slices.Sort(looks)
	slices.Sort(idles)
	fmt.Printf("tick at %d enrolments, %d due behind closed windows of %d groups: all groups %s, later %s; p95 %s, "+
		"%s\n",
		o.contacts, due, groups, short(quantile(looks, .5)), short(quantile(idles, .5)), short(quantile(looks, .95)),
		short(quantile(idles, .95)))
	fmt.Printf("both ticks together: processor %s of Postgres and %s of the bench, %d blocks of enrolments and "+
		"groups\n",
		short(spent["postgres for funnelwork ticks"]/rounds), short(spent[here]/rounds), blocks/rounds)
	verdict(os.Stdout, "at most 20 ms", quantile(looks, .5) <= 20*time.Millisecond, short(quantile(looks, .5)))
	verdict(os.Stdout, "no enrolment is rewritten", before == after, strconv.FormatBool(before == after))
	return nil
}
