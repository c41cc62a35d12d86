package contactbulk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
)

// child is the database, org and change of a separate process that the test kills.
var child = flag.String("child", "", "database, org and change, for the test of kills")

func TestMain(m *testing.M) {
	flag.Parse()
	if *child == "" {
		os.Exit(m.Run())
	}
	part := strings.Split(*child, " ")
	db, err := postgres.Open(context.Background(), postgres.Options{URL: part[0], Role: postgres.App})
	if err == nil {
		org, _ := id.Parse(part[1])
		which, _ := id.Parse(part[2])
		err = job(db, 10).Work(context.Background(), run(org, which, 1))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func job(db *postgres.DB, part int) contactbulk.Job {
	pace := contactbulk.Usual()
	pace.Rest = 0
	return contactbulk.Job{
		App: db, Plans: plans.Standard(),
		Scores: models.NewBook(db, slog.New(slog.DiscardHandler)), Pace: pace, Part: part,
	}
}

func run(org, which id.ID, attempt int) *queue.Run[contactbulk.Args] {
	return &queue.Run[contactbulk.Args]{
		Claimed: &queue.Claimed{Org: org, Attempt: attempt, MaxAttempts: 2},
		Args:    contactbulk.Args{Bulk: which},
	}
}

// desk is an org with contacts.
type desk struct {
	*testing.T
	*testkit.Database
	org id.ID
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{t, testkit.DB(t), id.New()}
	if err := d.System.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, d.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	d.Helper()
	if err := d.App.Tx(d.Context(), d.org, func(tx *postgres.Tx) error { return fn(d.Context(), tx) }); err != nil {
		d.Fatal(err)
	}
}

// people makes n contacts: every second one a customer, every tenth one archived, tagged a and b alternately.
func (d *desk) people(n int) {
	d.Helper()
	var ids []id.ID
	for some := range slices.Chunk(make([]int, n), 1000) {
		rows := make([]contacts.Upsert, len(some))
		for i := range rows {
			rows[i].Patch = contacts.Patch{
				Email:     wire.Some(fmt.Sprintf("p%d@acme.example", len(ids)+i)),
				FirstName: wire.Some("A"), LastName: wire.Some("B"),
			}
			rows[i].Stage = wire.Some([]string{"customer", "lead"}[i%2])
			rows[i].Tag = wire.Some([][]string{{"a"}, {"x", "a", "b"}, {"b"}}[i%3])
		}
		d.tx(func(ctx context.Context, tx *postgres.Tx) error {
			out, _, _, err := contacts.Batch{Rate: scoring.Shipped().Rate}.Upsert(ctx, tx, rows)
			for i := range out {
				ids = append(ids, out[i].ID)
			}
			return err
		})
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) error {
		var tenth []id.ID
		for i := 9; i < n; i += 10 {
			tenth = append(tenth, ids[i])
		}
		_, err := contacts.ArchiveAll(ctx, tx, tenth)
		return err
	})
}

func (d *desk) ask(a bulk.Action, filter string, dry bool) (b bulk.Change) {
	d.Helper()
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		var where json.RawMessage
		if filter != "" {
			where = json.RawMessage(filter)
		}
		b, err = bulk.Ask(events.WithOrigin(ctx, events.Origin{ActorType: "user", ActorID: "ada", RequestID: "r1"}),
			tx, a, where, dry)
		return err
	})
	return b
}

func (d *desk) get(i id.ID) (b bulk.Change) {
	d.Helper()
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		b, err = bulk.Get(ctx, tx, i)
		return err
	})
	return b
}

func (d *desk) do(a bulk.Action, filter string) bulk.Change {
	d.Helper()
	b := d.ask(a, filter, false)
	if err := job(d.App, 12).Work(d.Context(), run(d.org, b.ID, 1)); err != nil {
		d.Fatal(err)
	}
	return d.get(b.ID)
}

// result is the status and the counts of a bulk change.
type result struct {
	Status                            string
	Total, Changed, Unchanged, Failed int64
}

func resultOf(b bulk.Change) result {
	return result{b.Status, b.RowsTotal, b.RowsChanged, b.RowsUnchanged, b.RowsFailed}
}

func (d *desk) one(sql string, args ...any) (n int) {
	d.Helper()
	d.tx(func(ctx context.Context, tx *postgres.Tx) error { return tx.QueryRow(ctx, sql, args, &n) })
	return n
}

const customers = `{"field":"stage","op":"eq","value":"customer"}`

func titled(title string) bulk.Action {
	return bulk.OfPatch(&contacts.Patch{JobTitle: wire.Some(title)})
}

// A contact processed twice would be unchanged the second time; a skipped contact would be missing in the sum.
func TestAProcessThatIsKilledLeavesEachContactWorkedOnce(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.people(3000)
	want := d.one(`SELECT count(*) FROM contact WHERE archived_at IS NULL AND stage = 'customer'`)
	b := d.ask(titled("CEO"), customers, false)
	kills := 0
	for _, until := range []int{1, want / 3, 2 * want / 3} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-child="+d.URL+" "+d.org.String()+" "+b.ID.String())
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for d.one(`SELECT rows_changed FROM contact_bulk, pg_sleep(0.002)`) < until {
			select {
			case err := <-ended:
				t.Fatalf("the process ended by itself: %v\n%s", err, said.Bytes())
			default:
			}
		}
		_ = cmd.Process.Kill() // it may have ended meanwhile, which the next error tells
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the process ended by itself: %v\n%s", err, said.Bytes())
		}
		if done := d.one(`SELECT rows_changed FROM contact_bulk`); done < want {
			kills++
		}
	}
	if kills < 2 {
		t.Errorf("it was killed but %d times in its work", kills)
	}
	if err := job(d.App, 10).Work(t.Context(), run(d.org, b.ID, 1)); err != nil {
		t.Fatal(err)
	}
	got := d.get(b.ID)
	n := int64(want)
	if diff := cmp.Diff(result{bulk.Completed, n, n, 0, 0}, resultOf(got)); diff != "" {
		t.Errorf("the change (-want +got):\n%s", diff)
	}
	for what, c := range map[string][2]int{
		"changed": {d.one(`SELECT count(*) FROM contact WHERE job_title = 'CEO' AND edit = 2`), want},
		"told": {d.one(`SELECT count(DISTINCT data -> 'object' ->> 'id') FROM event
			WHERE type = 'contact.updated' AND actor_id = 'ada' AND request_id = 'r1'`), want},
		"told at all": {d.one(`SELECT count(*) FROM event WHERE type = 'contact.updated'`), want},
		"others": {d.one(`SELECT count(*) FROM contact WHERE job_title IS NOT NULL
			AND (stage <> 'customer' OR archived_at IS NOT NULL)`), 0},
		"left of the ids":         {d.one(`SELECT count(*) FROM contact_bulk_part`), 0},
		"whose new score is kept": {d.one(`SELECT count(DISTINCT contact_id) FROM score_history`), want},
		"kept scores":             {d.one(`SELECT count(*) FROM score_history`), want},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", what, c[0], c[1])
		}
	}
}

// Each action removes contacts from its own filter's selection, or adds others.
func TestAnActionThatMovesItsOwnFilterWorksWhomItHeldAtTheStart(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.people(120)
	live, archived := d.one(`SELECT count(*) FROM contact WHERE archived_at IS NULL`),
		d.one(`SELECT count(*) FROM contact WHERE archived_at IS NOT NULL`)
	tagged := func(tag string, archived bool) int {
		return d.one(`SELECT count(*) FROM contact_tag WHERE tag = $1 AND archived = $2`, tag, archived)
	}
	a, aAway := tagged("a", false), tagged("a", true)
	for _, step := range []struct {
		name           string
		action         bulk.Action
		filter         string
		total, changed int
	}{
		{
			"to another stage", bulk.OfPatch(&contacts.Patch{Stage: wire.Some("lead")}), customers,
			d.one(`SELECT count(*) FROM contact WHERE stage = 'customer' AND archived_at IS NULL`), -1,
		},
		{
			"back, all", bulk.OfPatch(&contacts.Patch{Stage: wire.Some("customer")}),
			`{"field":"stage","op":"eq","value":"lead"}`, live, -1,
		},
		{
			"a tag out of its own filter",
			bulk.Action{Type: bulk.Tag, Add: []string{"c"}, Remove: []string{"a"}},
			`{"field":"tag","op":"eq","value":"a"}`, a, -1,
		},
		{
			"a tag that is there",
			bulk.Action{Type: bulk.Tag, Add: []string{"c"}},
			`{"field":"tag","op":"eq","value":"c"}`, a, 0,
		},
		{
			"into a segment",
			bulk.Action{Type: bulk.Segment, Add: []string{"q3"}},
			`{"field":"tag","op":"eq","value":"c"}`, a, -1,
		},
		{
			"out of it",
			bulk.Action{Type: bulk.Segment, Remove: []string{"q3"}},
			`{"field":"segment","op":"eq","value":"q3"}`, a, -1,
		},
		{"a tag's name, archived too", bulk.Action{Type: bulk.RenameTag, Tag: "a", To: "z"}, ``, aAway, -1},
		{
			"onto another",
			bulk.Action{Type: bulk.RenameTag, Tag: "b", To: "x"},
			``,
			tagged("b", false) + tagged("b", true), -1,
		},
		{"away", bulk.Action{Type: bulk.DeleteTag, Tag: "x"}, ``, tagged("b", false) + tagged("b", true), -1},
		{"archive", bulk.Action{Type: bulk.Archive}, customers, live, -1},
		{
			"restore",
			bulk.Action{Type: bulk.Restore},
			`{"any":[` + customers + `,{"field":"stage","op":"eq","value":"lead"}]}`, live + archived, -1,
		},
	} {
		if step.changed < 0 {
			step.changed = step.total
		}
		got := d.do(step.action, step.filter)
		expected := result{
			Status: bulk.Completed, Total: int64(step.total), Changed: int64(step.changed),
			Unchanged: int64(step.total - step.changed), Failed: got.RowsFailed,
		}
		if diff := cmp.Diff(expected, resultOf(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		if n := len(got.SampleIDs); n != min(10, step.total) {
			t.Errorf("%s: %d sample ids of %d contacts", step.name, n, step.total)
		}
	}
	for what, c := range map[string][2]int{
		"with a tag":               {d.one(`SELECT count(*) FROM contact WHERE 'c' = ANY (tags)`), a},
		"renamed among the others": {d.one(`SELECT count(*) FROM contact WHERE 'z' = ANY (tags)`), aAway},
		"old names":                {d.one(`SELECT count(*) FROM contact_tag WHERE tag IN ('a', 'b', 'x')`), 0},
		"tags that are found": {
			d.one(`SELECT count(*) FROM contact_tag`),
			d.one(`SELECT coalesce(sum(cardinality(tags)), 0) FROM contact`),
		},
		"on a wrong shelf": {d.one(`SELECT count(*) FROM contact_tag WHERE archived`), 0},
		"archived":         {d.one(`SELECT count(*) FROM contact WHERE archived_at IS NOT NULL`), 0},
		"in a segment":     {d.one(`SELECT count(*) FROM segment_member`), 0},
		"told of tags": {
			d.one(
				`SELECT count(*) FROM event WHERE type = 'contact.tagged'
					AND data::jsonb -> 'object' -> 'added' ? 'c'`), a,
		},
		"told of the archiving": {d.one(`SELECT count(*) FROM event WHERE type = 'contact.archived'`), live},
		"told of the way back": {
			d.one(`SELECT count(*) FROM event WHERE type = 'contact.restored'`),
			live + archived,
		},
		"jobs for scores, at least": {min(1, d.one(`SELECT count(*) FROM job WHERE kind = 'lead.score_many'`)), 1},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", what, c[0], c[1])
		}
	}
}

func TestADryRunCountsAndChangesNothing(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.people(50)
	before := d.one(`SELECT count(*) FROM event`)
	b := d.ask(bulk.Action{Type: bulk.Archive}, customers, true)
	if err := job(d.App, 20).Work(t.Context(), run(d.org, b.ID, 1)); err != nil {
		t.Fatal(err)
	}
	got := d.get(b.ID)
	live := d.one(`SELECT count(*) FROM contact WHERE stage = 'customer' AND archived_at IS NULL`)
	if got.Status != bulk.Completed || got.RowsTotal != int64(live) {
		t.Errorf("%s with %d rows, want completed with %d", got.Status, got.RowsTotal, live)
	}
	if len(got.SampleIDs) != 10 || got.RowsChanged != int64(live) {
		t.Errorf("%d sample ids, %d rows changed; want 10, %d", len(got.SampleIDs), got.RowsChanged, live)
	}
	if d.one(`SELECT count(*) FROM event`) != before || d.one(`SELECT count(*) FROM contact_bulk_part`) != 0 ||
		d.one(`SELECT count(*) FROM contact WHERE stage = 'customer' AND archived_at IS NULL`) != live {
		t.Error("it changed something")
	}

	applied := d.ask(titled("One"), customers, false)
	if err := job(d.App, 20).Work(t.Context(), run(d.org, applied.ID, 1)); err != nil {
		t.Fatal(err)
	}
	want, after := d.get(applied.ID), d.one(`SELECT count(*) FROM event`)
	for _, title := range []string{"One", "Two"} { // the title that they have, and another one
		b := d.ask(titled(title), customers, true)
		if err := job(d.App, 20).Work(t.Context(), run(d.org, b.ID, 1)); err != nil {
			t.Fatal(err)
		}
		got, changes := d.get(b.ID), int64(0)
		if title == "Two" {
			changes = want.RowsTotal
		}
		if got.RowsChanged != changes || got.RowsUnchanged != want.RowsTotal-changes {
			t.Errorf("to %s: %d rows changed, %d unchanged; want %d, %d", title, got.RowsChanged, got.RowsUnchanged,
				changes, want.RowsTotal-changes)
		}
	}
	if d.one(`SELECT count(*) FROM event`) != after || d.one(`SELECT count(*) FROM contact_bulk_part`) != 0 {
		t.Error("a dry run of an update changed something")
	}
}

func TestNoChangeWaitsForADryRun(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.people(50)
	d.ask(titled("One"), customers, true)
	b := d.ask(titled("Two"), customers, false)
	if err := job(d.App, 7).Work(t.Context(), run(d.org, b.ID, 1)); err != nil {
		t.Fatal(err)
	}
	if got := d.get(b.ID); got.Status != bulk.Completed {
		t.Errorf("the change is %s, want completed", got.Status)
	}
}

func TestChangesOfAnOrgGoOneAfterTheOtherAndStopWhenAskedTo(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.people(50)
	first, second := d.ask(titled("One"), customers, false), d.ask(titled("Two"), customers, false)
	if _, waits := queue.SnoozeOf(job(d.App, 7).Work(t.Context(), run(d.org, second.ID, 1))); !waits ||
		d.get(second.ID).Status != bulk.Queued {
		t.Errorf("the second does not wait: %+v", d.get(second.ID))
	}
	w := bulk.Worker{
		Rate: scoring.Shipped().Rate, Part: 7,
		Score: func(context.Context, *postgres.Tx, []contacts.Change) error { return nil },
	}
	for range 2 { // the start and one part
		d.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, err := w.Step(ctx, tx, first.ID)
			return err
		})
	}
	for range 2 {
		d.tx(func(ctx context.Context, tx *postgres.Tx) error {
			b, err := bulk.Cancel(ctx, tx, first.ID)
			if b.Status != bulk.Cancelled {
				t.Errorf("%+v", b)
			}
			return err
		})
	}
	for _, b := range []bulk.Change{first, second, second} {
		if err := job(d.App, 7).Work(t.Context(), run(d.org, b.ID, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.get(first.ID); got.RowsChanged != 7 || got.Status != bulk.Cancelled {
		t.Errorf("the first is %s with %d rows changed, want cancelled with 7", got.Status, got.RowsChanged)
	}
	if n := d.one(`SELECT count(*) FROM contact_bulk_part`); n != 0 {
		t.Errorf("%d parts are left", n)
	}
	if got := d.get(second.ID); got.Status != bulk.Completed || got.RowsChanged != got.RowsTotal {
		t.Errorf("the second is %s with %d of %d rows changed, want completed with all", got.Status, got.RowsChanged,
			got.RowsTotal)
	}
	if n := d.one(`SELECT count(*) FROM contact WHERE job_title = 'One'`); n != 0 {
		t.Errorf("%d contacts are as the first left them", n)
	}
}

func TestWhatCannotGoOnSaysSo(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.people(20)
	gone := d.ask(titled("One"), `{"field":"attributes.gone","op":"eq","value":"x"}`, false)
	if err := job(d.App, 7).Work(t.Context(), run(d.org, gone.ID, 1)); err != nil {
		t.Fatal(err)
	}
	if got := d.get(gone.ID); got.Status != bulk.Failed || got.Error == nil {
		t.Errorf("%+v", got)
	}
	broken := d.ask(bulk.Action{Type: "nonsense"}, customers, false)
	last := run(d.org, broken.ID, 2)
	err := job(d.App, 7).Work(t.Context(), last)
	if err == nil {
		t.Fatal("it went on")
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) error {
		err := store.New(d.App, d.System).Settle(ctx, tx, last.Claimed,
			store.Completion{Outcome: store.Died, Error: err.Error()})
		if errors.Is(err, store.ErrFenced) {
			return nil
		}
		return err
	})
	if got := d.get(broken.ID); got.Status != bulk.Failed || got.Error == nil {
		t.Errorf("status %s, error %v; want failed and an error", got.Status, got.Error)
	}
	if n := d.one(`SELECT count(*) FROM contact_bulk_part`); n != 0 {
		t.Errorf("%d parts are left", n)
	}
}
