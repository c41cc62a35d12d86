package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// columnTypes are column types with a generator of values. Some are encoded as text and some in binary, and several
// share a length, so that a value decoded with another column's format may not cause an error.
var columnTypes = []struct {
	cast  string
	value func(*rand.Rand) any
}{
	{"int2", func(r *rand.Rand) any { return int16(r.Uint32()) }},
	{"int4", func(r *rand.Rand) any { return int32(r.Uint32()) }},
	{"int8", func(r *rand.Rand) any { return int64(r.Uint64()) }},
	{"float8", func(r *rand.Rand) any { return r.NormFloat64() }},
	{"bool", func(r *rand.Rand) any { return r.IntN(2) == 0 }},
	{"text", func(r *rand.Rand) any { return digits(r, r.IntN(12)) }},
	{"bytea", func(r *rand.Rand) any { return []byte(digits(r, 8)) }},
	{"uuid", func(*rand.Rand) any { return id.New() }},
	{"jsonb", func(r *rand.Rand) any { return map[string]any{"a": digits(r, 3), "b": float64(r.IntN(99))} }},
	{"json", func(r *rand.Rand) any { return map[string]any{"a": digits(r, 3)} }},
	{"text[]", func(r *rand.Rand) any { return []string{digits(r, 2), digits(r, 4)} }},
	{"int8[]", func(r *rand.Rand) any { return []int64{int64(r.Uint64()), 7} }},
	{"timestamptz", func(r *rand.Rand) any { return time.UnixMicro(r.Int64N(1 << 52)).UTC() }},
	{"interval", func(r *rand.Rand) any { return time.Duration(r.IntN(1<<30)) * time.Microsecond }},
	{"inet", func(r *rand.Rand) any {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(r.Uint32()), byte(r.Uint32())}), 32)
	}},
	{"numeric", func(r *rand.Rand) any { return fmt.Sprintf("%d.5", r.IntN(1<<20)) }},
	{"xid8", func(r *rand.Rand) any { return digits(r, 6) }}, // no codec: text
}

func digits(r *rand.Rand, n int) string {
	b := []byte("1")
	for range n {
		b = append(b, byte('0'+r.IntN(10)))
	}
	return string(b)
}

// shape is a statement that returns its arguments.
type shape struct {
	sql   string
	types []int
}

func shapes(r *rand.Rand, n int) []shape {
	all := make([]shape, n)
	for i := range all {
		var columns []string
		for c := range 1 + r.IntN(14) {
			t := r.IntN(len(columnTypes))
			all[i].types = append(all[i].types, t)
			columns = append(columns, fmt.Sprintf("$%d::text::%s", c+1, columnTypes[t].cast))
			if text := columnTypes[t].cast; text != "text" && text != "xid8" && text != "numeric" {
				columns[c] = fmt.Sprintf("$%d::%s", c+1, text)
			}
		}
		all[i].sql = fmt.Sprintf("SELECT %s WHERE %d = %d", strings.Join(columns, ", "), i, i)
	}
	return all
}

var comparePrefix = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })

// call is one use of a statement: its arguments and the targets of its result.
type call struct{ sent, targets []any }

func (s shape) call(r *rand.Rand) call {
	var c call
	for _, t := range s.types {
		v := columnTypes[t].value(r)
		c.sent = append(c.sent, v)
		c.targets = append(c.targets, reflect.New(reflect.TypeOf(v)).Interface())
	}
	return c
}

func (c call) check(t *testing.T, s shape) {
	t.Helper()
	for i, target := range c.targets {
		got := reflect.ValueOf(target).Elem().Interface()
		if at, ok := got.(time.Time); ok {
			got = at.UTC()
		}
		if diff := cmp.Diff(c.sent[i], got, comparePrefix); diff != "" {
			t.Errorf("column %d (%s) of %s: sent, got:\n%s", i, columnTypes[s.types[i]].cast, s.sql, diff)
		}
	}
}

func TestEachAnswerIsReadInTheFormatsOfItsOwnStatement(t *testing.T) {
	t.Parallel()
	const seed = 16
	mixed := shapes(rand.New(rand.NewPCG(seed, 0)), 60)
	for _, pooler := range []bool{false, true} {
		db, _ := open(t, testkit.DB(t).URL, postgres.App, pooler)
		var wg sync.WaitGroup
		for worker := range 64 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(worker)+1))
				for range 40 {
					s := mixed[r.IntN(len(mixed))]
					c := s.call(r)
					err := db.BatchedGet(t.Context(), id.New(), s.sql, c.sent, func(row pgx.CollectableRow) error {
						return row.Scan(c.targets...)
					})
					if err != nil {
						t.Errorf("%s: %v", s.sql, err)
						continue
					}
					c.check(t, s)
				}
			})
		}
		for worker := range 8 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(worker)+1000))
				for range 20 {
					batches(t, db, mixed, r)
				}
			})
		}
		wg.Wait()
	}
}

// batches runs several statements as one batch of a transaction and of a series of reads.
func batches(t *testing.T, db *postgres.DB, mixed []shape, r *rand.Rand) {
	t.Helper()
	for _, in := range []func(context.Context, id.ID, func(*postgres.Tx) error) error{db.Tx, db.ReadTx} {
		var used []shape
		var calls []call
		err := in(t.Context(), id.New(), func(tx *postgres.Tx) error {
			for range 1 + r.IntN(12) {
				s := mixed[r.IntN(len(mixed))]
				c := s.call(r)
				used, calls = append(used, s), append(calls, c)
				tx.Queue(s.sql, c.sent...).QueryRow(func(row pgx.Row) error { return row.Scan(c.targets...) })
			}
			return nil
		})
		if err != nil {
			t.Errorf("batch: %v", err)
			continue
		}
		for i, c := range calls {
			c.check(t, used[i])
		}
	}
}

func TestAReadThatCannotBeSentFailsAlone(t *testing.T) {
	t.Parallel()
	db, _ := open(t, testkit.DB(t).URL, postgres.App, false)
	scan := func(to *int) func(pgx.CollectableRow) error {
		return func(row pgx.CollectableRow) error { return row.Scan(to) }
	}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := range 20 {
				var got int
				if err := db.BatchedGet(t.Context(), id.New(), "SELECT $1::int", []any{i}, scan(&got)); err != nil {
					t.Errorf("a good read beside bad ones: %v", err)
				}
				if got != i {
					t.Errorf("a good read beside bad ones returned %d; want %d", got, i)
				}
				if err := db.BatchedGet(t.Context(), id.New(), "SELECT $1::int", []any{"x"}, scan(&got)); err == nil {
					t.Error("an argument of another type was taken")
				}
				if err := db.BatchedGet(t.Context(), id.New(), "SELECT nothing", nil,
					scan(&got)); postgres.Code(err) != "42703" {
					t.Errorf("a statement without sense: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAReadFollowsAChangeOfItsColumnsType(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	db, _ := open(t, kit.URL, postgres.App, false)
	admin := testkit.Pgx(t, kit.URL)
	run := func(sql string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE widened (n int); INSERT INTO widened VALUES (7); GRANT SELECT ON widened TO " + postgres.App)
	var got int64
	read := func() error {
		return db.BatchedGet(t.Context(), id.New(), "SELECT n FROM widened", nil, func(row pgx.CollectableRow) error {
			return row.Scan(&got)
		})
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	run("ALTER TABLE widened ALTER n TYPE bigint; UPDATE widened SET n = 1::bigint << 40")
	_ = read() // may use the statement that was prepared before the change
	if err := read(); err != nil {
		t.Fatal(err)
	}
	if want := int64(1) << 40; got != want {
		t.Errorf("read %d; want %d", got, want)
	}
}
