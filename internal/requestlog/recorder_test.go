package requestlog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// listAll returns what the org's log has.
func listAll(t *testing.T, db *testkit.Database, org id.ID, f requestlog.Filter) (all []requestlog.Logged) {
	t.Helper()
	err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) (err error) {
		all, err = requestlog.List(t.Context(), tx, &f, id.ID{}, 50_000)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// countByResult returns how many entries the metric has counted, by result.
func countByResult(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return got
}

func TestEntriesOfManyOrgsAreWrittenTogetherAndTheRestAtTheEnd(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	reg := prometheus.NewRegistry()
	r := requestlog.NewRecorder(db.System, testkit.Log(t), requestlog.NewMetrics(reg))
	orgs := []id.ID{id.New(), id.New()}
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	for i := range 3000 {
		r.Add(&requestlog.Entry{
			Org: orgs[i%2], At: at, RequestID: "r", Method: "POST", Route: "/x", Status: 422, Code: "c",
			Took: 1500 * time.Microsecond,
			User: orgs[0], Body: json.RawMessage(`{"a":"b"}`),
			Errors: json.RawMessage(`[{"pointer":"#/a","code":"x"}]`),
		})
	}
	r.Close(t.Context())
	r.Add(&requestlog.Entry{Org: orgs[0], At: at})
	for _, org := range orgs {
		all := listAll(t, db, org, requestlog.Filter{})
		if len(all) != 1500 {
			t.Fatalf("%d entries, want 1500", len(all))
		}
		one := all[7]
		if one.RequestID != "r" || one.Status != 422 || one.Took != 1500*time.Microsecond || one.User != orgs[0] ||
			!one.Key.IsZero() || string(one.Body) != `{"a":"b"}` || one.Errors[0].Pointer != "#/a" ||
			!one.ID.Time().Equal(at) {
			t.Errorf("entry %+v", one)
		}
	}
	want := map[string]float64{"dropped": 1, "failed": 0, "written": 3000}
	if diff := cmp.Diff(want, countByResult(t, reg)); diff != "" {
		t.Error(diff)
	}
}

func TestEntriesThatPostgresDoesNotTakeAreCountedAndDelayNobody(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	reg := prometheus.NewRegistry()
	r := requestlog.NewRecorder(db.System, testkit.Log(t), requestlog.NewMetrics(reg))
	holder := testkit.Pgx(t, db.URL)
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE request_log"); err != nil {
		t.Fatal(err)
	}
	org := id.New()
	const added = 2 + 20_000 + 5000
	for range added {
		r.Add(&requestlog.Entry{Org: org, At: time.Now()})
	}
	if err := tx.Rollback(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	r.Close(t.Context())
	kept := len(listAll(t, db, org, requestlog.Filter{}))
	if kept == 0 {
		t.Error("nothing is written once Postgres takes it again")
	}
	if kept > added {
		t.Errorf("%d entries of %d", kept, added)
	}
	got := countByResult(t, reg)
	if got["dropped"] < 1 || got["dropped"]+got["failed"]+got["written"] != added {
		t.Errorf("counted %v of %d", got, added)
	}
}

func TestBodiesInMemoryAreBoundedAndCostNoEntry(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	r := requestlog.NewRecorder(db.System, testkit.Log(t), nil)
	holder := testkit.Pgx(t, db.URL)
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE request_log"); err != nil {
		t.Fatal(err)
	}

	org := id.New()
	body := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	const added = 64
	for range added {
		r.Add(&requestlog.Entry{Org: org, At: time.Now(), Status: 422, Body: body})
	}
	if err := tx.Rollback(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	r.Close(t.Context())

	all := listAll(t, db, org, requestlog.Filter{})
	without := 0
	for i := range all {
		if all[i].Body == nil {
			without++
		}
	}
	if len(all) != added || without == 0 || without == added {
		t.Errorf("%d entries of %d, %d of them without the body", len(all), added, without)
	}
	if left := r.BodyBytes(); left != 0 {
		t.Errorf("%d bytes of bodies are counted once all is written", left)
	}
}

func TestTheLogShowsSevenDays(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	r := requestlog.NewRecorder(db.System, testkit.Log(t), nil)
	org := id.New()
	for _, age := range []time.Duration{0, requestlog.Kept - time.Minute, requestlog.Kept + time.Minute} {
		r.Add(&requestlog.Entry{Org: org, At: time.Now().Add(-age), RequestID: "x"})
	}
	r.Close(t.Context())
	if n := len(listAll(t, db, org, requestlog.Filter{})); n != 2 {
		t.Errorf("%d entries, want those of seven days: 2", n)
	}
	if n := len(listAll(t, db, org, requestlog.Filter{RequestID: "x", From: time.Now().Add(-time.Hour)})); n != 1 {
		t.Errorf("%d entries of the last hour, want 1", n)
	}
}
