package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Parameters of the bulk benchmark: the contacts in a change, the orgs that make requests at the same time and their
// rate per second, and the number of rounds of a quiet phase and a change.
const (
	bulkRows   = 100_000
	bulkOrgs   = 40
	bulkRate   = 60
	bulkRounds = 4
	bulkQuiet  = 10 * time.Second
)

// crmBulk changes a hundred thousand contacts of the big org by filter, through the API and a worker, while separate
// orgs make requests at a steady rate. Before each change they make the same requests without it. The changes
// alternately set a job title on contacts without one and remove it; each announces events, writes timelines and
// enqueues scoring. At the end the benchmark restores everything except updated_at and edit of the contacts.
func crmBulk(ctx context.Context, c *crm) (err error) {
	worker, err := c.start(ctx, "worker")
	if err != nil {
		return err
	}
	defer worker.stop()
	began := time.Now()
	others, err := c.bystanders(ctx)
	defer func() { err = errors.Join(err, c.sweep(context.WithoutCancel(ctx), began, others)) }()
	if err != nil {
		return err
	}
	rows := min(bulkRows, c.contacts/10)
	var since time.Time
	if err := c.admin.QueryRow(ctx,
		`SELECT created_at FROM contact WHERE org_id = $1 AND archived_at IS NULL AND job_title IS NULL
			ORDER BY created_at DESC OFFSET $2 LIMIT 1`, c.big.org, rows-1).Scan(&since); err != nil {
		return fmt.Errorf("find the newest %d without a job title: %w", rows, err)
	}
	const connections = 12
	cl := newClients(c.api.addr, connections+1)
	var seconds, ratio []float64
	fmt.Printf("%d contacts by filter, %d requests per second of %d other orgs (50 %% reads, 20 %% lists, 20 %% "+
		"creations, 10 %% changes)\n", rows, bulkRate, len(others))
	for round := range bulkRounds {
		before, during := newSorts(), newSorts()
		quiet, err := open(ctx, bulkRate, bulkQuiet, connections, before.timed(cl.everyday(others, 0)))
		if err != nil {
			return err
		}
		where := fmt.Sprintf(
			`{"all":[{"field":"job_title","op":"exists","value":false},{"field":"created_at","op":"gte",`+
				`"value":%q}]}`, since.UTC().Format(time.RFC3339Nano))
		title := `"Bench"`
		if round%2 == 1 {
			where, title = `{"field":"job_title","op":"eq","value":"Bench"}`, "null"
		}
		done := make(chan error, 1)
		var b bulkRun
		over, stop := context.WithCancel(ctx)
		go func() {
			defer stop()
			got, failed := c.change(ctx, cl, connections, where, title)
			b = got
			done <- failed
		}()
		var busy []time.Duration
		for from := 0; over.Err() == nil; from += bulkRate {
			part, err := open(ctx, bulkRate, time.Second, connections, during.timed(cl.everyday(others, from)))
			if err != nil {
				return errors.Join(err, <-done)
			}
			busy = append(busy, part...)
		}
		if err := <-done; err != nil {
			return err
		}
		slices.Sort(busy)
		took := b.CompletedAt.Sub(b.CreatedAt).Seconds()
		fmt.Printf("change %d: %d changed in %.1f s (%.0f per second); others' p95 %s before, %s during\n", round+1,
			b.Changed, took, float64(b.Changed)/took, short(quantile(quiet, .95)), short(quantile(busy, .95)))
		fmt.Printf("          p50 and p95 by themselves: %s\n", before.beside(during))
		if b.Changed != int64(rows) || b.Total != int64(rows) {
			return fmt.Errorf("%d of %d were changed, want %d", b.Changed, b.Total, rows)
		}
		seconds, ratio = append(seconds, took),
			append(ratio, float64(quantile(busy, .95))/float64(quantile(quiet, .95)))
	}
	s, r := spreadOf(seconds), spreadOf(ratio)
	verdict(os.Stdout, fmt.Sprintf("a bulk update of %d within 30 s", rows), s.mid <= 30, s.String()+" s")
	verdict(os.Stdout, "other orgs' p95 at most 1.2 of what it is without", r.mid <= 1.2, r.String())
	return nil
}

// bulkRun is a bulk change as the API shows it.
type bulkRun struct {
	ID          string
	Status      string
	Total       int64     `json:"rows_total"`
	Changed     int64     `json:"rows_changed"`
	CreatedAt   time.Time `json:"created_at"`
	CompletedAt time.Time `json:"completed_at"`
}

// change starts a bulk change and waits until it is completed.
func (c *crm) change(ctx context.Context, cl clients, connection int, where, title string) (b bulkRun, err error) {
	read := func(body []byte) error { return json.Unmarshal(body, &b) }
	ask := []byte(`{"filter":` + where + `,"action":{"type":"update","patch":{"job_title":` + title + `}}}`)
	if err := cl.call(connection, c.big.key, fasthttp.MethodPost, contactsPath+"/bulk", ask, fasthttp.StatusAccepted,
		read); err != nil {
		return b, err
	}
	for b.Status == "queued" || b.Status == "running" {
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return b, err
		}
		if err := cl.call(connection, c.big.key, fasthttp.MethodGet, contactsPath+"/bulk/"+b.ID, nil,
			fasthttp.StatusOK, read); err != nil {
			return b, err
		}
	}
	if b.Status != "completed" {
		return b, fmt.Errorf("the change ended as %s", b.Status)
	}
	return b, nil
}

// dayparts are the kinds of each ten consecutive requests, in order.
var dayparts = [...]string{
	0: "reads", 1: "reads", 2: "reads", 3: "reads", 4: "reads", 5: "lists", 6: "lists",
	7: "creations", 8: "creations", 9: "changes",
}

// sorts are the durations of requests, by kind.
type sorts struct {
	mu   sync.Mutex
	took map[string][]time.Duration
}

func newSorts() *sorts { return &sorts{took: map[string][]time.Duration{}} }

// timed wraps call and records its duration.
func (s *sorts) timed(call func(worker, i int) error) func(worker, i int) error {
	return func(worker, i int) error {
		began := time.Now()
		err := call(worker, i)
		took, sort := time.Since(began), dayparts[i%10]
		s.mu.Lock()
		defer s.mu.Unlock()
		s.took[sort] = append(s.took[sort], took)
		return err
	}
}

// beside formats the p50 and p95 of s and of o, by kind.
func (s *sorts) beside(o *sorts) string {
	var out []string
	for _, sort := range []string{"reads", "lists", "creations", "changes"} {
		a, b := s.took[sort], o.took[sort]
		slices.Sort(a)
		slices.Sort(b)
		if len(a) > 0 && len(b) > 0 {
			out = append(out,
				fmt.Sprintf("%s %s %s, then %s %s", sort, short(quantile(a, .5)), short(quantile(a, .95)),
					short(quantile(b, .5)), short(quantile(b, .95))))
		}
	}
	return strings.Join(out, "; ")
}

// everyday returns the mixed traffic of the orgs, ten requests each in turn, beginning with the org at from.
func (cl clients) everyday(orgs []caller, from int) func(worker, i int) error {
	return func(w, i int) error {
		i += from
		who := orgs[i/10%len(orgs)]
		one := contactsPath + "/" + who.contact.String()
		switch i % 10 {
		case 0, 1, 2, 3, 4:
			return cl.call(w, who.key, fasthttp.MethodGet, one, nil, fasthttp.StatusOK, nil)
		case 5, 6:
			return cl.call(w, who.key, fasthttp.MethodGet, contactsPath+"?limit=20", nil, fasthttp.StatusOK, nil)
		case 7, 8:
			return cl.call(w, who.key, fasthttp.MethodPost, contactsPath, contactBody(newMark()),
				fasthttp.StatusCreated, nil)
		default:
			return cl.call(w, who.key, fasthttp.MethodPatch, one, []byte(`{"job_title":"`+newMark()+`"}`),
				fasthttp.StatusOK, nil)
		}
	}
}

// bystanders creates orgs for the benchmark, each with contacts.
func (c *crm) bystanders(ctx context.Context) ([]caller, error) {
	kept := c.orgs
	defer func() { c.orgs = kept }()
	if err := c.populate(ctx, bulkOrgs); err != nil {
		return nil, err
	}
	cl, made := newClients(c.api.addr, 1), c.orgs
	for i := range made {
		for range 30 {
			text, err := cl.post(made[i], newMark())
			if err != nil {
				return made, err
			}
			if made[i].contact, err = id.Parse(text); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

// sweep deletes the orgs, and what the changes announced about the big org's contacts since then.
func (c *crm) sweep(ctx context.Context, since time.Time, orgs []caller) error {
	if err := c.forget(ctx); err != nil {
		return err
	}
	ids := make([]id.ID, len(orgs))
	for i := range orgs {
		ids[i] = orgs[i].org
	}
	var tables string
	if err := c.admin.QueryRow(ctx,
		`SELECT string_agg(DISTINCT c.relname, ' ') FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
			AND a.attname = 'org_id'
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
		AND c.relname <> 'org'`).Scan(&tables); err != nil {
		return err
	}
	for table := range strings.FieldsSeq(tables) {
		if _, err := c.admin.Exec(ctx, `DELETE FROM `+table+` WHERE org_id = ANY ($1)`, ids); err != nil {
			return fmt.Errorf("sweep %s: %w", table, err)
		}
	}
	if _, err := c.admin.Exec(ctx, `DELETE FROM org WHERE id = ANY ($1)`, ids); err != nil {
		return err
	}
	for _, left := range []struct {
		table, column string
	}{{"event", "created_at"}, {"timeline", "at"}, {"score_history", "recorded_at"}, {"contact_bulk", "created_at"}} {
		if _, err := c.admin.Exec(ctx, `DELETE FROM `+left.table+` WHERE org_id = $1 AND `+left.column+` >= $2`,
			c.big.org, since); err != nil {
			return fmt.Errorf("sweep %s: %w", left.table, err)
		}
	}
	_, err := c.admin.Exec(ctx, `VACUUM (ANALYZE) contact, contact_score, event, timeline`)
	return err
}
