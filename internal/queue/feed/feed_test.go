package feed_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/feed"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// line is the settings of a concurrency key.
type line struct {
	slots         int
	held, probing bool
	rate          int
	early         bool // the rate allows no slot yet
}

// world is a random job table.
type world struct {
	dice    *rand.Rand
	weights map[id.ID]int
	lines   map[[2]id.ID]line
	paused  map[[2]string]bool
	rows    [][]any
	waiting map[[2]id.ID][]chance // due jobs without a slot
	held    map[[2]id.ID]int
}

// chance is a job that may get a slot.
type chance struct {
	id  id.ID
	due time.Time
}

var (
	worldKinds   = []string{"test.a", "test.b", "test.c"}
	worldColumns = []string{
		"org_id", "id", "kind", "args", "lane", "max_attempts", "line", "state", "run_at", "due",
		"wake_at", "owner",
	}
)

func (w *world) id() (i id.ID) {
	for b := range i {
		i[b] = byte(w.dice.Uint32())
	}
	return i
}

func (w *world) oneIn(n int) bool { return w.dice.IntN(n) == 0 }

func roll(seed uint64, now time.Time) *world {
	w := &world{
		dice:    rand.New(rand.NewPCG(seed, 17)),
		weights: map[id.ID]int{}, lines: map[[2]id.ID]line{}, paused: map[[2]string]bool{},
		waiting: map[[2]id.ID][]chance{}, held: map[[2]id.ID]int{},
	}
	if w.oneIn(12) {
		w.paused[[2]string{"lane", "default"}] = true
	}
	if w.oneIn(3) {
		w.paused[[2]string{"kind", worldKinds[w.dice.IntN(3)]}] = true
	}
	for range 1 + w.dice.IntN(6) {
		org := w.id()
		if w.oneIn(2) {
			w.weights[org] = 1 + w.dice.IntN(3)
		}
		if w.oneIn(6) {
			w.paused[[2]string{"org", org.String()}] = true
		}
		for n := range 1 + w.dice.IntN(8) {
			var of id.ID
			if n > 0 {
				of = w.id()
				if w.oneIn(2) {
					w.lines[[2]id.ID{org, of}] = line{
						slots: 1 + w.dice.IntN(60), held: w.oneIn(5),
						probing: w.oneIn(5), rate: w.dice.IntN(2) * (1 + 2*w.dice.IntN(6)), early: w.oneIn(3),
					}
				}
			}
			w.fill(org, of, now)
		}
	}
	return w
}

// fill adds rows in all states for one key, or for an org's jobs without a key.
func (w *world) fill(org, of id.ID, now time.Time) {
	most := []int{0, 3, 12, 80}[w.dice.IntN(4)]
	for range 3 * w.dice.IntN(most+1) {
		kind, lane, state := worldKinds[w.dice.IntN(3)], "default", "ready"
		at, due := now.Add(-time.Second-time.Duration(w.dice.IntN(100))*100*time.Millisecond), true
		var wake, owner, lineOf any
		if !of.IsZero() {
			lineOf = of
		}
		job, key, may := w.id(), [2]id.ID{org, of}, false
		switch w.dice.IntN(12) {
		case 0:
			state = "dead"
		case 1:
			at, due = now.Add(time.Hour+time.Duration(w.dice.IntN(1e6))*time.Microsecond), w.oneIn(2)
			due = due && w.lines[key].rate == 0 // the pace of a key begins with its oldest job
			may = due                           // the clock was ahead when the job was marked
		case 2:
			due = false // due, but not yet marked by the feeder
		case 3:
			lane = "bulk"
		case 4, 5:
			wake = now.Add(time.Minute)
			if w.oneIn(2) {
				owner = w.id()
			}
			w.held[key]++
		default:
			may = true
		}
		w.rows = append(w.rows, []any{org, job, kind, []byte("{}"), lane, 3, lineOf, state, at, due, wake, owner})
		if may && !w.paused[[2]string{"lane", lane}] && !w.paused[[2]string{"kind", kind}] &&
			!w.paused[[2]string{"org", org.String()}] {
			w.waiting[key] = append(w.waiting[key], chance{job, at})
		}
	}
	slices.SortFunc(w.waiting[[2]id.ID{org, of}], func(a, b chance) int {
		return cmp.Or(a.due.Compare(b.due), bytes.Compare(a.id[:], b.id[:]))
	})
}

func (w *world) weight(org id.ID) int { return max(w.weights[org], 1) }

// room returns how many slots a group may hold, given the slots of the group and of all the org's keys.
func (w *world) room(key [2]id.ID, lines int) int {
	if key[1].IsZero() {
		return queue.MaxInFlight * w.weight(key[0])
	}
	most := queue.Slots
	if l, ok := w.lines[key]; ok {
		switch most = l.slots; {
		case l.held:
			return 0
		case l.probing:
			most = 1
		}
		switch {
		case l.rate > 0 && l.early:
			return 0
		case l.rate > 0: // one, plus half a second's worth
			most = min(most, w.held[key]+1+l.rate/2)
		}
	}
	return min(most, queue.Lines*w.weight(key[0])-lines)
}

// expect assigns slots one by one with a full scan each time: to the org with the fewest for its weight, there to the
// group with the fewest, there to the job that has waited longest.
func (w *world) expect(limit int) map[[2]id.ID]int {
	got, all, lines, oldest := map[[2]id.ID]int{}, map[id.ID]int{}, map[id.ID]int{}, map[id.ID]time.Time{}
	for key, n := range w.held {
		if all[key[0]] += n; !key[1].IsZero() {
			lines[key[0]] += n
		}
	}
	for key, jobs := range w.waiting {
		if at, ok := oldest[key[0]]; len(jobs) > 0 && (!ok || jobs[0].due.Before(at)) {
			oldest[key[0]] = jobs[0].due
		}
	}
	for range limit {
		var best [2]id.ID
		found := false
		for key, jobs := range w.waiting {
			holds := w.held[key] + got[key]
			if got[key] == len(jobs) || holds >= w.room(key, lines[key[0]]) {
				continue
			}
			org, top := key[0], best[0]
			if !found || cmp.Or(
				cmp.Compare((all[org]+1)*w.weight(top), (all[top]+1)*w.weight(org)), oldest[org].Compare(oldest[top]),
				bytes.Compare(org[:], top[:]),
				cmp.Compare(holds, w.held[best]+got[best]), jobs[0].due.Compare(w.waiting[best][0].due),
				bytes.Compare(key[1][:], best[1][:]),
			) < 0 {
				best, found = key, true
			}
		}
		if !found {
			break
		}
		got[best]++
		if all[best[0]]++; !best[1].IsZero() {
			lines[best[0]]++
		}
	}
	return got
}

// write stores the world in the database.
func (w *world) write(t *testing.T, sql *pgx.Conn) {
	t.Helper()
	batch := &pgx.Batch{}
	batch.Queue("TRUNCATE job, job_line, job_weight, job_pause")
	for org, n := range w.weights {
		batch.Queue("INSERT INTO job_weight (org_id, weight) VALUES ($1, $2)", org, n)
	}
	for p := range w.paused {
		batch.Queue("INSERT INTO job_pause (scope, name) VALUES ($1, $2)", p[0], p[1])
	}
	for key, l := range w.lines {
		batch.Queue(`INSERT INTO job_line (org_id, id, slots, held_until, probing, rate, next_at) VALUES
			($1, $2, $3, CASE WHEN $4 THEN now() + interval '1 hour' END, $5, nullif($6::int, 0), now() + CASE
			WHEN $7 THEN 1 ELSE -1 END * interval '30 seconds')`,
			key[0], key[1], l.slots, l.held, l.probing, l.rate, l.early)
	}
	if err := sql.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sql.CopyFrom(t.Context(), pgx.Identifier{"job"}, worldColumns, pgx.CopyFromRows(w.rows)); err != nil {
		t.Fatal(err)
	}
}

func TestARoundGivesSlotsAsANaiveEvaluatorOfTheRowsGivesThem(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	total := 0
	for seed := range uint64(120) {
		var now time.Time
		if err := sql.QueryRow(t.Context(), "SELECT now()").Scan(&now); err != nil {
			t.Fatal(err)
		}
		w := roll(seed, now)
		w.write(t, sql)
		limit := w.dice.IntN([]int{10, 100, 600}[seed%3])
		refs, err := feed.New(store.New(db.App, db.System)).Round(t.Context(), queue.Default, limit)
		if err != nil {
			t.Fatal(err)
		}
		total += len(refs)
		given := map[id.ID]int{} // position in the result
		for i, r := range refs {
			given[r.ID] = i + 1
		}
		slots := 0
		for key, n := range w.expect(limit) {
			slots += n
			last := 0
			for i, job := range w.waiting[key] {
				at := given[job.id]
				if (at > 0) != (i < n) {
					t.Fatalf(
						"seed %d, limit %d, org %s, line %s: job %d of %d has a slot: %t; want the first %d to "+
							"have one", seed, limit, key[0], key[1], i, len(w.waiting[key]), at > 0, n)
				}
				if at > 0 && at < last {
					t.Fatalf("seed %d: job %d of org %s, line %s, was answered before one that was due earlier", seed,
						i, key[0], key[1])
				}
				last = max(last, at)
			}
		}
		if len(refs) != slots || len(given) != slots {
			t.Fatalf("seed %d, limit %d: %d slots to %d jobs, want %d", seed, limit, len(refs), len(given), slots)
		}
		holds := 0
		for _, n := range w.held {
			holds += n
		}
		var rows int
		if err := sql.QueryRow(t.Context(), "SELECT count(*) FROM job WHERE wake_at IS NOT NULL").
			Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if rows != holds+slots {
			t.Fatalf("seed %d: %d rows have a slot, want %d", seed, rows, holds+slots)
		}
	}
	if total < 2000 {
		t.Errorf("only %d slots in all worlds: they try little", total)
	}
}

// With the wrong plan a round reads all waiting jobs. The plan must be right with and without statistics.
func TestRoundsReadOnlyTheJobsThatTheyGive(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	org := id.New()
	for _, state := range []struct{ name, sql string }{
		{
			"not counted",
			`ALTER TABLE job SET (autovacuum_enabled = off); INSERT INTO job (org_id, id, kind, args, lane,
				max_attempts, run_at, due)
		SELECT CASE g % 2 WHEN 0 THEN '` + org.String() +
				`' ELSE md5((g % 5)::text)::uuid END, gen_random_uuid(), 'test.a', '{}', 'default', 3,
			now() - g * interval '1 s', true
		FROM generate_series(1, 6000) AS g`,
		},
		{"counted", "ANALYZE job"},
		{
			"counted when there was nothing",
			"CREATE TABLE kept AS SELECT * FROM job; TRUNCATE job; ANALYZE job; INSERT INTO job SELECT * FROM kept",
		},
	} {
		if _, err := sql.Exec(t.Context(), state.sql); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			for _, c := range []struct {
				what string
				most float64
				plan func() ([]byte, error)
			}{
				{"pick", 8, func() ([]byte, error) {
					return feed.ExplainPick(t.Context(), db.System, mode, org, "test.a", 7)
				}},
				{"walk over six groups", 7, func() ([]byte, error) {
					return feed.ExplainRound(t.Context(), db.System, mode)
				}},
				{"probe of the lanes", 1, func() ([]byte, error) {
					return feed.ExplainWaiting(t.Context(), db.System, mode)
				}},
			} {
				raw, err := c.plan()
				if err != nil {
					t.Fatal(err)
				}
				var plans []struct{ Plan plan }
				if err := json.Unmarshal(raw, &plans); err != nil {
					t.Fatal(err)
				}
				reads, scans := plans[0].Plan.reads("job_waiting", "job_waiting_line")
				if scans == 0 || reads > c.most {
					t.Errorf("%s, %s, %s: %v rows read in %d scans of job_waiting, want %v at most: %s", state.name,
						mode, c.what, reads, scans, c.most, raw)
				}
			}
		}
	}
}

// Thousands of slots are taken and freed between two vacuums.
func TestSlotsThatWereGivenBackAreNotLookedAtAgain(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	for _, s := range []string{
		`ALTER TABLE job SET (autovacuum_enabled = off)`,
		`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, due)
		SELECT md5((g % 5)::text)::uuid, gen_random_uuid(), 'test.a', '{}', 'default', 3, now() - g * interval
		'1 s', true FROM generate_series(1, 3000) AS g`,
	} {
		if _, err := sql.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	feeder := feed.New(store.New(db.App, db.System))
	for given := 0; given < 2000; {
		if _, err := sql.Exec(t.Context(),
			`DELETE FROM job WHERE state = 'ready' AND wake_at IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
		refs, err := feeder.Round(t.Context(), queue.Default, 100)
		if err != nil || len(refs) == 0 {
			t.Fatalf("%d slots were given, %v", len(refs), err)
		}
		given += len(refs)
	}
	// The scan may read the current slots, each on a page of its own, and some pages of other rows, once the rest are
	// known to be dead.
	for end := time.Now().Add(5 * time.Minute); ; <-time.After(50 * time.Millisecond) {
		var plans []struct{ Plan plan }
		raw, err := feed.ExplainHeld(t.Context(), db.System)
		if err == nil {
			err = json.Unmarshal(raw, &plans)
		}
		if err != nil {
			t.Fatal(err)
		}
		pages := plans[0].Plan.Hit + plans[0].Plan.Read
		if 0 < pages && pages <= 250 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the count of 100 slots still looks at %v pages", pages)
		}
	}
}

type plan struct {
	Hit   float64 `json:"Shared Hit Blocks"`
	Read  float64 `json:"Shared Read Blocks"`
	Index string  `json:"Index Name"`
	Rows  float64 `json:"Actual Rows"`
	Loops float64 `json:"Actual Loops"`
	Plans []plan
}

// reads returns how many rows all scans of the indexes returned.
func (p *plan) reads(indexes ...string) (rows float64, scans int) {
	if slices.Contains(indexes, p.Index) {
		rows, scans = p.Rows*p.Loops, 1
	}
	for _, below := range p.Plans {
		r, s := below.reads(indexes...)
		rows, scans = rows+r, scans+s
	}
	return rows, scans
}
