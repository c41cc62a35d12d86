package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	crmSegmentsPath  = "/api/v1/crm/segments"
	crmSegmentsCount = 100
	crmChanges       = 50 // per second
	crmProbes        = 60
	crmProbePhone    = "bench 1"
	memberBar        = 2 * time.Second
)

// memberships is the benchmark of dynamic segments: a worker beside the API, and contacts that no other section
// changes.
type memberships struct {
	*crm
	cl     clients
	worker *process
	known  known
	probe  string  // the segment that probe contacts enter and leave
	crowd  []id.ID // contacts changed beside the probes; each enters and leaves one or two segments
	probes []id.ID
	begun  int // index of the crowd's next change, so that each change changes something
}

// crmSegments measures how long after the response to a change memberships are correct, alone and while other contacts
// change; the cost of a change with one segment and with a hundred; and how long a new segment takes over all contacts.
func crmSegments(ctx context.Context, c *crm) (err error) {
	m := &memberships{crm: c, cl: newClients(c.api.addr, 10)}
	forget, err := m.remember(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, forget()) }()
	if m.worker, err = c.start(ctx, "worker"); err != nil {
		return err
	}
	defer m.worker.stop()
	m.known.worker = m.worker.cmd.Process.Pid
	if err := m.known.servers(ctx, c.admin, c.redis.URL); err != nil {
		return err
	}
	began := time.Now()
	if m.probe, err = m.segment(ctx, "probe", `{"field":"phone","op":"eq","value":"`+crmProbePhone+`"}`); err != nil {
		return err
	}
	fmt.Printf("\na new segment with no members: ready %s after the answer\n", short(time.Since(began)))
	if err := m.hundred(ctx); err != nil {
		return err
	}
	if err := m.costs(ctx); err != nil {
		return err
	}
	alone, err := m.latencies(ctx)
	if err != nil {
		return err
	}
	percentiles(fmt.Sprintf("%d dynamic segments, %d contacts: from a PATCH's answer until the membership is right",
		crmSegmentsCount, c.contacts), alone)
	var busy []time.Duration
	changing, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := m.change(changing, 10*time.Minute)
		ended <- err
	}()
	busy, err = m.latencies(ctx)
	stop()
	if failed := <-ended; err == nil && !errors.Is(failed, context.Canceled) {
		err = failed
	}
	if err != nil {
		return err
	}
	percentiles(fmt.Sprintf("the same while %d contacts a second change", crmChanges), busy)
	verdict(os.Stdout, "right within 2 s", quantile(alone, 1) <= memberBar && quantile(busy, 1) <= memberBar,
		short(quantile(busy, 1)))
	return nil
}

// remember selects the contacts and returns a function that undoes all changes of the section.
func (m *memberships) remember(ctx context.Context) (forget func() error, err error) {
	rows, err := m.admin.Query(ctx,
		`SELECT id FROM contact WHERE org_id = $1 AND archived_at IS NULL AND stage = 'lead' AND phone IS NULL
			AND (attributes ->> 'seats')::float8 BETWEEN 20 AND 60 LIMIT 2000`, m.big.org)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, err
	}
	if len(all) < 2*crmProbes {
		return nil, errors.New("the data set has too few contacts")
	}
	m.probes, m.crowd = all[:crmProbes], all[crmProbes:]
	began := time.Now()
	if _, err := m.admin.Exec(ctx,
		`CREATE TEMP TABLE bench_was AS SELECT * FROM contact WHERE org_id = $1 AND id = ANY ($2)`, m.big.org,
		all); err != nil {
		return nil, err
	}
	if _, err := m.admin.Exec(ctx,
		`CREATE TEMP TABLE bench_scored AS SELECT * FROM contact_score WHERE org_id = $1 AND contact_id = ANY ($2)`,
		m.big.org, all); err != nil {
		return nil, err
	}
	return func() error {
		ctx := context.WithoutCancel(ctx)
		for _, sql := range []string{
			`SET session_replication_role = replica`,
			`DELETE FROM segment_member m USING segment g WHERE g.org_id = @org AND g.kind = 'dynamic'
				AND m.org_id = @org AND m.segment_id = g.id`,
			`DELETE FROM segment WHERE org_id = @org AND kind = 'dynamic'`,
			`DELETE FROM segment_watch WHERE org_id = @org`, `DELETE FROM segment_mark WHERE org_id = @org`,
			`DELETE FROM segment_tally WHERE org_id = @org`,
			`UPDATE contact c SET stage = w.stage, phone = w.phone, phone_folded = w.phone_folded, edit = w.edit,
				updated_at = w.updated_at FROM bench_was w WHERE c.org_id = @org AND c.id = w.id`,
			`UPDATE contact_score s SET score = w.score, probability = w.probability, version = w.version,
				confidence = w.confidence, announced = w.announced, computed = w.computed, scored_at = w.scored_at
				FROM bench_scored w WHERE s.org_id = @org AND s.contact_id = w.contact_id`,
			`DELETE FROM score_history h USING bench_was w WHERE h.org_id = @org AND h.contact_id = w.id
				AND h.recorded_at >= @began`,
			`DELETE FROM timeline t USING bench_was w WHERE t.org_id = @org AND t.contact_id = w.id`,
			`DELETE FROM event WHERE org_id = @org AND created_at >= @began`,
			`DROP TABLE bench_was, bench_scored`, `RESET session_replication_role`, `VACUUM ANALYZE segment_member`,
		} {
			if _, err := m.admin.Exec(ctx, sql, pgx.NamedArgs{"org": m.big.org, "began": began}); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return m.forget(ctx)
	}, nil
}

// segment creates a dynamic segment, waits until it is ready and returns its id.
func (m *memberships) segment(ctx context.Context, name, filter string) (string, error) {
	var s struct {
		ID, Status   string
		ContactCount int `json:"contact_count"`
	}
	read := func(b []byte) error { return json.Unmarshal(b, &s) }
	if err := m.cl.call(0, m.big.key, fasthttp.MethodPost, crmSegmentsPath,
		[]byte(`{"name":"`+name+`","filter":`+filter+`}`), fasthttp.StatusCreated, read); err != nil {
		return "", err
	}
	for s.Status != "ready" {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return "", err
		}
		if err := m.cl.call(0, m.big.key, fasthttp.MethodGet, crmSegmentsPath+"/"+s.ID, nil, fasthttp.StatusOK,
			read); err != nil {
			return "", err
		}
	}
	return s.ID, nil
}

// hundred creates the other segments: one with half of all contacts first, then the rest together.
func (m *memberships) hundred(ctx context.Context) error {
	began := time.Now()
	if _, err := m.segment(ctx, "every other", `{"field":"attributes.seats","op":"exists","value":true}`); err != nil {
		return err
	}
	var members int
	if err := m.admin.QueryRow(ctx,
		`SELECT count(*) FROM segment_member m JOIN segment g ON g.org_id = m.org_id AND g.id = m.segment_id
			WHERE g.org_id = $1 AND g.key = 'every-other'`, m.big.org).Scan(&members); err != nil {
		return err
	}
	fmt.Printf("\na new segment with %d members among %d contacts: ready %s after it was asked for\n", members,
		m.contacts, short(time.Since(began)))
	began = time.Now()
	stages := []string{"sql", "opportunity", "customer", "other"}
	for i := 2; i < crmSegmentsCount; i++ {
		filter := fmt.Sprintf(`{"all":[{"field":"stage","op":"eq","value":%q},{"field":"attributes.seats",`+
			`"op":"gte","value":%d},{"field":"attributes.seats","op":"lt","value":%d}]}`, stages[i%4], i/4*20,
			i/4*20+30)
		body := []byte(fmt.Sprintf(`{"name":"bench %d","filter":%s}`, i, filter))
		if err := m.cl.call(0, m.big.key, fasthttp.MethodPost, crmSegmentsPath, body, fasthttp.StatusCreated,
			nil); err != nil {
			return err
		}
	}
	for building := 1; building > 0; {
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		if err := m.admin.QueryRow(ctx, `SELECT count(*) FROM segment WHERE org_id = $1 AND status = 'building'`,
			m.big.org).Scan(&building); err != nil {
			return err
		}
	}
	fmt.Printf("%d more, of few members each, asked for at once: all ready after %s\n", crmSegmentsCount-2,
		short(time.Since(began)))
	return nil
}

// change changes stages of the crowd at the steady rate for length, and returns the number of changes.
func (m *memberships) change(ctx context.Context, length time.Duration) (int, error) {
	bodies := [][]byte{[]byte(`{"stage":"sql"}`), []byte(`{"stage":"lead"}`)}
	from := m.begun
	took, err := open(ctx, crmChanges, length, len(m.cl)-1, func(w, i int) error {
		i += from
		which := m.crowd[i%len(m.crowd)]
		return m.cl.call(1+w, m.big.key, fasthttp.MethodPatch, contactsPath+"/"+which.String(),
			bodies[i/len(m.crowd)%2], fasthttp.StatusOK, nil)
	})
	m.begun += len(took)
	return len(took), err
}

// costs compares the cost of a change with all segments and with one: the others are archived and restored, in turns.
func (m *memberships) costs(ctx context.Context) error {
	var nothing time.Duration
	var one, hundred []time.Duration
	for turn := range 3 {
		for _, others := range []string{"NULL", "now()"} {
			if _, err := m.admin.Exec(ctx,
				`UPDATE segment SET archived_at = `+others+` WHERE org_id = $1 AND kind = 'dynamic' AND id <> $2`,
				m.big.org, m.probe); err != nil {
				return err
			}
			idle, took, err := m.cost(ctx)
			switch {
			case err != nil:
				return err
			case turn == 0: // warms up the caches
			case others == "NULL":
				nothing, hundred = idle, append(hundred, took)
			default:
				one = append(one, took)
			}
		}
	}
	if _, err := m.admin.Exec(ctx, `UPDATE segment SET archived_at = NULL WHERE org_id = $1 AND kind = 'dynamic'`,
		m.big.org); err != nil {
		return err
	}
	fmt.Printf("\nprocessor time of API, worker, Postgres and Redis for one PATCH, %d a second: %v with 1 dynamic "+
		"segment, %v with %d (nothing to do: %s a second)\n",
		crmChanges, each(one, short), each(hundred, short), crmSegmentsCount, short(nothing))
	return nil
}

// cost returns the CPU time of a second without changes, and that of one change.
func (m *memberships) cost(ctx context.Context) (idle, each time.Duration, err error) {
	if err := m.quiet(ctx); err != nil {
		return 0, 0, err
	}
	const length = 8 * time.Second
	used := func() (sum time.Duration) {
		for who, t := range m.known.usage(nil) {
			if who != here {
				sum += t
			}
		}
		return sum + processorOf(m.api.cmd.Process.Pid)
	}
	before := used()
	if err := pause(ctx, length); err != nil {
		return 0, 0, err
	}
	idle = used() - before
	before = used()
	n, err := m.change(ctx, length)
	if err != nil {
		return 0, 0, err
	}
	if err := m.quiet(ctx); err != nil {
		return 0, 0, err
	}
	return idle / (length / time.Second), (used() - before - idle) / time.Duration(n), nil
}

// quiet waits until no mark and no job is left.
func (m *memberships) quiet(ctx context.Context) error {
	for left := 1; left > 0; {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if err := m.admin.QueryRow(ctx,
			`SELECT (SELECT count(*) FROM (SELECT FROM segment_mark LIMIT 1) m) + (SELECT count(*) FROM (SELECT
				FROM job WHERE state = 'ready' AND run_at <= now() LIMIT 1) j)`).Scan(&left); err != nil {
			return err
		}
	}
	return nil
}

// latencies measures probes one after the other: into the segment, and out of it.
func (m *memberships) latencies(ctx context.Context) ([]time.Duration, error) {
	var took []time.Duration
	for i, which := range slices.Concat(m.probes, m.probes) {
		body, want := `{"phone":"`+crmProbePhone+`"}`, true
		if i >= len(m.probes) {
			body, want = `{"phone":null}`, false
		}
		if err := m.cl.call(0, m.big.key, fasthttp.MethodPatch, contactsPath+"/"+which.String(), []byte(body),
			fasthttp.StatusOK, nil); err != nil {
			return nil, err
		}
		began := time.Now()
		for is := !want; is != want; {
			if err := pause(ctx, 5*time.Millisecond); err != nil {
				return nil, err
			}
			if err := m.admin.QueryRow(ctx,
				`SELECT EXISTS (SELECT FROM segment_member WHERE org_id = $1 AND contact_id = $2
					AND segment_id = $3)`, m.big.org, which, m.probe).Scan(&is); err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(began))
		if err := pause(ctx, time.Duration(i*37%250)*time.Millisecond); err != nil { // out of step with the scans
			return nil, err
		}
	}
	slices.Sort(took)
	return took, nil
}
