package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var errKilled = errors.New("killed")

// memory is an object store in which one call fails: before or after its effect.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	calls   int
	killAt  int // 0: none
	after   bool
	tamper  string // name of an object that is overwritten when it is opened, once
}

// call counts a call with the given effect.
func (m *memory) call(effect func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	kill := m.calls == m.killAt
	if !kill || m.after {
		effect()
	}
	if kill {
		return errKilled
	}
	return nil
}

func (m *memory) Put(_ context.Context, name string, body []byte) error {
	return m.call(func() { m.objects[name] = bytes.Clone(body) })
}

func (m *memory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	var body []byte
	found := false
	err := m.call(func() {
		if name == m.tamper {
			m.objects[name], m.tamper = []byte("not what was stored"), ""
		}
		body, found = m.objects[name]
	})
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(body)), err
}

// ids returns the ids in the parts of a day that its manifest lists, in order.
func (m *memory) ids(t *testing.T, folder string) (all []string) {
	t.Helper()
	var manifest struct {
		Table string
		Lines int
		Parts []struct {
			Name  string
			Lines int
		}
	}
	if err := json.Unmarshal(m.objects[folder+"/manifest.json"], &manifest); err != nil {
		t.Fatalf("manifest of %s: %v", folder, err)
	}
	if manifest.Table != path.Dir(folder) {
		t.Errorf("%s is of the table %s", folder, manifest.Table)
	}
	for _, p := range manifest.Parts {
		zip, err := gzip.NewReader(bytes.NewReader(m.objects[folder+"/"+p.Name]))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(string(text)) {
			var row struct{ ID string }
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			all, lines = append(all, row.ID), lines+1
		}
		if lines != p.Lines {
			t.Errorf("%s has %d lines, the manifest says %d", p.Name, lines, p.Lines)
		}
	}
	if len(all) != manifest.Lines {
		t.Errorf("%s has %d lines, the manifest says %d", folder, len(all), manifest.Lines)
	}
	return all
}

type world struct {
	*testing.T
	db  *testkit.Database
	sql *pgx.Conn
}

func begin(t *testing.T) *world {
	db := testkit.DB(t)
	return &world{T: t, db: db, sql: testkit.Pgx(t, db.URL)}
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	if _, err := w.sql.Exec(w.Context(), sql, args...); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) texts(sql string) []string {
	w.Helper()
	found, _ := w.sql.Query(w.Context(), sql)
	all, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
	return all
}

// rows is how many events an expired day has.
const rows = 25

// expire creates a day in 2020 with events of three orgs, and returns its folder and the ids in their order.
func (w *world) expire(day int) (folder string, ids []string) {
	w.Helper()
	at := time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC)
	w.exec(fmt.Sprintf(`CREATE TABLE event_%s PARTITION OF event
		FOR VALUES FROM (uuid_floor('%s')) TO (uuid_floor('%s'))`,
		at.Format("20060102"), at.Format(time.RFC3339), at.AddDate(0, 0, 1).Format(time.RFC3339)))
	w.exec(`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
		SELECT ('00000000-0000-7000-8000-00000000000' || n % 3)::uuid,
			uuidv7_at($1::timestamptz + n * interval '1 second'), n, 'contact.created', 'system',
			E'{"text":\n"a\\nb"}', now() FROM generate_series(1, $2) n`, at, rows)
	return "event/" + at.Format(time.DateOnly), w.texts(`SELECT id::text FROM event ORDER BY org_id, id`)
}

// left returns what is left of expired days.
func (w *world) left() []string {
	w.Helper()
	return w.texts(`SELECT relname::text FROM pg_class WHERE relname LIKE 'event_2020%' AND relkind = 'r'
		UNION ALL SELECT name FROM archive_day UNION ALL SELECT name FROM archive_part`)
}

func (w *world) days(m *memory) *archive.Days {
	return &archive.Days{System: w.db.System, Objects: m, Log: testkit.Log(w), PartLines: 10}
}

const usual = time.Hour

func TestAFailureAtAnyCallLeavesWhatTheNextRunCompletes(t *testing.T) {
	t.Parallel()
	w := begin(t)
	killed := 0
	for n := 1; ; n++ {
		ended := false
		for i, after := range []bool{false, true} {
			m := &memory{objects: map[string][]byte{}, killAt: n, after: after}
			folder, ids := w.expire(2*n - 1 + i)
			switch err := w.days(m).Run(t.Context(), usual); {
			case errors.Is(err, errKilled):
				killed++
			case err != nil:
				t.Fatal(err)
			default:
				ended = true
			}
			if err := w.days(m).Run(t.Context(), usual); err != nil {
				t.Fatalf("after call %d: %v", n, err)
			}
			if diff := cmp.Diff(ids, m.ids(t, folder)); diff != "" {
				t.Errorf("call %d, after its effect %v (-want +got):\n%s", n, after, diff)
			}
			if left := w.left(); len(left) > 0 {
				t.Errorf("call %d: left are %v", n, left)
			}
		}
		if ended {
			break
		}
	}
	if killed != 2*(3+3+1) {
		t.Errorf("killed %d times, want before and after each of 3 parts, 3 readings and the manifest", killed)
	}
}

func TestRowsWithoutAPartitionAreArchivedToo(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, at := range []string{"-50 days", "-40 days", "-20 days", "0"} {
		w.exec(`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			SELECT gen_random_uuid(), uuidv7_at(now() + $1::interval), 1, 'contact.created', 'system', '{}', now()`, at)
	}
	old := w.texts(`SELECT id::text FROM event WHERE id < uuid_floor(now() - interval '31 days') ORDER BY org_id, id`)
	m := &memory{objects: map[string][]byte{}}
	if err := w.days(m).Run(t.Context(), usual); err != nil {
		t.Fatal(err)
	}
	folder := ""
	for name := range m.objects {
		folder = path.Dir(name)
	}
	if diff := cmp.Diff(old, m.ids(t, folder)); diff != "" || !strings.HasPrefix(folder, "event/strays-") {
		t.Errorf("in %s (-want +got):\n%s", folder, diff)
	}
	if kept := w.texts(`SELECT id::text FROM event`); len(kept) != 2 {
		t.Errorf("%d events are left, want 2", len(kept))
	}
}

func TestAnObjectThatIsNotWhatWasStoredIsWrittenAgainBeforeTheDayGoes(t *testing.T) {
	t.Parallel()
	w := begin(t)
	folder, ids := w.expire(1)
	m := &memory{objects: map[string][]byte{}, tamper: folder + "/part-000001.ndjson.gz"}
	if err := w.days(m).Run(t.Context(), usual); err == nil {
		t.Fatal("the day was dropped")
	}
	if len(w.left()) == 0 || m.objects[folder+"/manifest.json"] != nil {
		t.Error("the day is complete, or gone")
	}
	if err := w.days(m).Run(t.Context(), usual); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ids, m.ids(t, folder)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	delete(m.objects, folder+"/part-000002.ndjson.gz") // after the last look at it
	if left := w.left(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

func TestADayIsNotDroppedWhileARowIsNotInTheArchive(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.expire(1)
	w.exec(`SELECT detach_days()`)
	w.exec(`INSERT INTO archive_part VALUES ('event_20200101', 0, 24, 1, '', gen_random_uuid(), gen_random_uuid())`)
	if _, err := w.sql.Exec(t.Context(), `SELECT drop_archived('event_20200101')`); err == nil ||
		!strings.Contains(err.Error(), "event_20200101 has 25 rows, of which 24 are in the archive") {
		t.Errorf("dropped: %v", err)
	}
	if n := w.texts(`SELECT count(*)::text FROM event_20200101`); n[0] != "25" {
		t.Errorf("%s rows are left", n)
	}
}

func TestWhenTheTimeIsUpTheNextRunContinues(t *testing.T) {
	t.Parallel()
	w := begin(t)
	folder, ids := w.expire(1)
	m := &memory{objects: map[string][]byte{}}
	if err := w.days(m).Run(t.Context(), -time.Hour); err != nil {
		t.Fatal(err)
	}
	if n := w.texts(`SELECT count(*)::text FROM event`); n[0] != "0" || m.calls > 0 {
		t.Errorf("%s expired events are still shown, and %d calls were made", n, m.calls)
	}
	if err := w.days(m).Run(t.Context(), usual); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ids, m.ids(t, folder)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRunsAtOnceWriteEachRowOnce(t *testing.T) {
	t.Parallel()
	w := begin(t)
	m := &memory{objects: map[string][]byte{}}
	want := map[string][]string{}
	for day := range 3 {
		folder, ids := w.expire(day + 1)
		want[folder] = ids
		w.exec(`SELECT detach_days()`)
	}
	var g errgroup.Group
	for range 3 {
		g.Go(func() error {
			_ = w.days(m).Run(t.Context(), usual) // the table may be gone while it is read: the next run is for that
			return nil
		})
	}
	_ = g.Wait()
	if err := w.days(m).Run(t.Context(), usual); err != nil {
		t.Fatal(err)
	}
	for folder, ids := range want {
		if diff := cmp.Diff(ids, m.ids(t, folder)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", folder, diff)
		}
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
