// This file is long because it keeps the filter generator, the naive evaluator and their values together.

package contacts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/jackc/pgx/v5"
)

// hostile lists values that would be dangerous if they were not passed as arguments.
var hostile = []string{
	"Ada", "ada", "ADA", "Äda", "A\u0308da", "adalbert", "O'Neil", `o''neil`, `"`, `\`, `\'; DROP TABLE contact; --`,
	"$1", "$1::text", "%", "_da", "*/", "--", "ß", "STRASSE", "straße", "İ", "日本", "日本語",
	"x\U0010FFFF", "x\U0010FFFFy", "x", "a b", "{a,b}", "NULL", "null", "true", "0", "2026-02-28",
	strings.Repeat("long ", 79), "é" + strings.Repeat("z", 390),
}

var (
	attributeKinds = map[string]contacts.Type{
		"plan": contacts.String, "k'e\"y$1 --": contacts.String,
		"size": contacts.Number, "vip": contacts.Boolean, "since": contacts.Date,
	}
	dates      = []string{"0000-01-01", "1999-12-31", "2026-02-28", "2026-03-01", "9999-12-31"}
	numbers    = []float64{-9007199254740992, -1, -0.1, 0, 0.1, 0.30000000000000004, 1, 10, 35, 9007199254740991}
	fieldKinds = map[string]filter.Type{
		"email": filter.Address, "first_name": filter.Text, "last_name": filter.Text, "phone": filter.Text,
		"job_title": filter.Text, "source": filter.Text, "time_zone": filter.Text,
		"company_id": filter.ID, "owner_id": filter.ID, "stage": filter.Key, "tag": filter.Keys,
		"segment": filter.Keys, "lead_score": filter.Number, "created_at": filter.Time, "updated_at": filter.Time,
		"attributes.plan": filter.Text, "attributes.k'e\"y$1 --": filter.Text, "attributes.size": filter.Number,
		"attributes.vip": filter.Boolean, "attributes.since": filter.Date,
	}
	fieldNames = slices.Sorted(func(yield func(string) bool) {
		for f := range fieldKinds {
			if !yield(f) {
				return
			}
		}
	})
)

type dice struct{ *rand.Rand }

func one[T any](d dice, of []T) T { return of[d.IntN(len(of))] }

// few returns some of the values, often none.
func (d dice) few(of []string) []string {
	out := []string{}
	for range d.IntN(3) {
		if s := one(d, of); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// tagsOf returns valid tags: no comma and at most 64 characters.
func tagsOf(all []string) (out []string) {
	for _, s := range all {
		if len(s) <= 64 && !strings.Contains(s, ",") && strings.TrimSpace(s) == s {
			out = append(out, s)
		}
	}
	return out
}

// crowd creates n contacts with random values, one in ten archived. ids are those of companies and owners.
func (s *shop) crowd(d dice, n int, ids []id.ID) {
	s.t.Helper()
	keys := slices.Sorted(maps.Keys(attributeKinds))
	// Defined first, because otherwise the first value would set a key's type, and a date-like value would make it a
	// date.
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		for _, key := range keys {
			if _, err := contacts.Define(ctx, tx, key, "", attributeKinds[key]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
	rows := make([]contacts.Upsert, n)
	zones, tags := []string{"Europe/Berlin", "Asia/Tokyo", "UTC"}, tagsOf(hostile)
	for i := range rows {
		p := &rows[i].Patch
		*p = contacts.Patch{
			Email:     some(fmt.Sprintf("%s%d@Acme.example", one(d, []string{"Ann", "bob", "über", "o'neil"}), i)),
			FirstName: some(cutTo(one(d, hostile), 200)), LastName: some(cutTo(one(d, hostile), 200)),
			Stage: some(one(d, []string{"lead", "mql", "customer"})), Tag: wire.Some(d.few(tags)),
			Segment:   wire.Some(d.few(tags[:6])),
			CreatedAt: some(wire.At(time.Unix(1_700_000_000+int64(d.IntN(20)), int64(d.IntN(3))*1000)).String()),
		}
		if d.IntN(3) > 0 {
			p.Phone, p.JobTitle, p.TimeZone = some(cutTo(one(d, hostile), 50)), some(cutTo(one(d, hostile), 200)),
				some(one(d, zones))
		}
		if d.IntN(3) > 0 {
			p.Source, p.CompanyID, p.OwnerID = some(cutTo(one(d, hostile), 200)), some(one(d, ids).String()),
				some(one(d, ids).String())
		}
		p.Attributes.Set, p.Attributes.Value = true, map[string]any{}
		for _, key := range keys {
			if d.IntN(3) == 0 {
				continue
			}
			p.Attributes.Value[key] = map[contacts.Type]any{
				contacts.String: one(d,
					append(hostile, "", strings.Repeat("ä", 1999)+"!")), contacts.Number: one(d, numbers),
				contacts.Boolean: d.IntN(2) == 0, contacts.Date: one(d, dates),
			}[attributeKinds[key]]
		}
	}
	out, _, _, err := s.upsert(rows)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, o := range out {
		if o.Fault != nil {
			s.t.Fatalf("%v: %+v", rows[i].Patch, o.Fault.Fields)
		}
		if i%10 == 9 {
			if _, err := s.archive(o.ID); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

func cutTo(s string, n int) string { return string([]rune(s)[:min(n, len([]rune(s)))]) }

// question is a filter that the test generates.
type question struct {
	group string // all, any, not or ""
	parts []question
	field string
	op    string
	value any
}

func (q question) json() any {
	switch q.group {
	case "":
		return map[string]any{"field": q.field, "op": q.op, "value": q.value}
	case "not":
		return map[string]any{"not": q.parts[0].json()}
	}
	parts := []any{}
	for _, p := range q.parts {
		parts = append(parts, p.json())
	}
	return map[string]any{q.group: parts}
}

func (d dice) question(depth int, values func(dice, string) any) question {
	if depth > 0 && d.IntN(3) > 0 {
		q := question{group: one(d, []string{"all", "any", "any", "not"})}
		n := 1
		if q.group != "not" {
			n = d.IntN(4)
		}
		for range n {
			q.parts = append(q.parts, d.question(depth-1, values))
		}
		return q
	}
	q := question{field: one(d, fieldNames)}
	ops := []string{"eq", "ne", "in", "not_in", "exists"}
	switch fieldKinds[q.field] {
	case filter.Boolean:
		ops = []string{"eq", "ne", "exists"}
	case filter.Text, filter.Key:
		ops = append(ops, "gt", "gte", "lt", "lte", "starts_with", "contains")
	case filter.Keys:
		ops = append(ops, "starts_with", "contains")
	case filter.Number, filter.Date, filter.Time:
		ops = append(ops, "gt", "gte", "lt", "lte")
	default:
	}
	switch q.op = one(d, ops); q.op {
	case "exists":
		q.value = d.IntN(2) == 0
	case "in", "not_in":
		list := []any{}
		for range 1 + d.IntN(3) {
			list = append(list, values(d, q.field))
		}
		q.value = list
	default:
		q.value = values(d, q.field)
		if text, ok := q.value.(string); ok && (q.op == "starts_with" || q.op == "contains") {
			r := []rune(text)
			from := 0
			if q.op == "contains" {
				from = d.IntN(len(r))
			}
			q.value = string(r[from : from+1+d.IntN(len(r)-from)])
		}
	}
	return q
}

// naive evaluates the filter on a contact without the package under test. have returns the contact's value of a field.
func (q question) naive(have func(field string) any) bool {
	switch q.group {
	case "all":
		for _, p := range q.parts {
			if !p.naive(have) {
				return false
			}
		}
		return true
	case "any":
		for _, p := range q.parts {
			if p.naive(have) {
				return true
			}
		}
		return false
	case "not":
		return !q.parts[0].naive(have)
	}
	kind, x := fieldKinds[q.field], have(q.field)
	switch q.op {
	case "ne":
		return !question{field: q.field, op: "eq", value: q.value}.naive(have)
	case "not_in":
		return !question{field: q.field, op: "in", value: q.value}.naive(have)
	case "exists":
		return (x != nil) == q.value
	case "in":
		for _, v := range q.value.([]any) {
			if (question{field: q.field, op: "eq", value: v}).naive(have) {
				return true
			}
		}
		return false
	}
	if x == nil {
		return false
	}
	if kind == filter.Keys {
		for _, s := range x.([]string) {
			if naively(q.op, filter.Key, s, q.value) {
				return true
			}
		}
		return false
	}
	return naively(q.op, kind, x, q.value)
}

func naively(op string, kind filter.Type, x, v any) bool {
	var less, same bool
	switch kind {
	case filter.Number:
		less, same = x.(float64) < v.(float64), x.(float64) == v.(float64)
	case filter.Boolean:
		same = x == v
	case filter.Time:
		at, err := time.Parse(time.RFC3339Nano, v.(string))
		if err != nil {
			panic(err)
		}
		a, b := x.(wire.Time).UnixMicro(), at.UnixMicro()
		less, same = a < b, a == b
	default:
		a, b := fmt.Sprint(x), v.(string)
		switch kind {
		case filter.Text, filter.Key:
			a, b = compare.Text(a), compare.Text(b)
			if b == "" && v != "" && strings.TrimSpace(v.(string)) == "" && (op == "starts_with" || op == "contains") {
				b = " "
			}
		case filter.Address:
			a, b = compare.Address(a), compare.Address(b)
			if op == "starts_with" || op == "contains" {
				b = compare.AddressPart(v.(string))
			}
		case filter.ID:
			a, b = strings.ToLower(a), strings.ToLower(b)
		default:
		}
		less, same = a < b, a == b
		switch op {
		case "starts_with":
			return strings.HasPrefix(a, b)
		case "contains":
			return strings.Contains(a, b)
		}
	}
	switch op {
	case "eq":
		return same
	case "gt":
		return !less && !same
	case "gte":
		return !less
	case "lt":
		return less
	default:
		return less || same
	}
}

// wirely returns the contact's value of a field, from its JSON.
func wirely(c *contacts.Contact) func(field string) any {
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		panic(err)
	}
	return func(field string) any {
		if key, ok := strings.CutPrefix(field, "attributes."); ok {
			return m["attributes"].(map[string]any)[key]
		}
		switch field {
		case "created_at":
			return c.CreatedAt
		case "updated_at":
			return c.UpdatedAt
		}
		if list, ok := m[field].([]any); ok {
			if len(list) == 0 {
				return nil
			}
			out := []string{}
			for _, s := range list {
				out = append(out, s.(string))
			}
			return out
		}
		return m[field]
	}
}

// Random filters over random contacts, with every field, type and op, give the same result in SQL, in memory, and in
// the test's own evaluator.
func TestTenThousandFiltersMeanTheSameInSQLAndInMemory(t *testing.T) {
	t.Parallel()
	filters, atOnce := 10_200, 60
	if testing.Short() { // with the race detector
		filters = 600
	}
	s, seed := open(t), rand.Uint64()
	d := dice{rand.New(rand.NewPCG(seed, 0))}
	t.Logf("seed %d", seed)
	ids := []id.ID{id.New(), id.New(), id.New()}
	s.crowd(d, 60, ids)
	rows := s.list(contacts.Filter{}, contacts.Newest)
	if len(rows) != 54 {
		t.Fatalf("%d live contacts", len(rows))
	}
	have := make([]func(string) any, len(rows))
	for i := range rows {
		have[i] = wirely(&rows[i].Contact)
	}
	values := func(d dice, field string) any {
		// Mostly a value that some contact has, else a similar one.
		if v := have[d.IntN(len(have))](field); v != nil && d.IntN(4) > 0 {
			switch x := v.(type) {
			case wire.Time:
				return x.Add(time.Duration(d.IntN(3)-1) * time.Microsecond).In(time.FixedZone("", 3600*(d.IntN(5)-2))).
					Format(time.RFC3339Nano)
			case []string:
				return one(d, x)
			case string:
				if x != "" && len(x) < 400 {
					return x
				}
			default:
				return x
			}
		}
		switch fieldKinds[field] {
		case filter.Number:
			return one(d, numbers)
		case filter.Boolean:
			return d.IntN(2) == 0
		case filter.Date:
			return one(d, dates)
		case filter.Time:
			return time.Unix(1_700_000_000+int64(d.IntN(20)), 0).UTC().Format(time.RFC3339Nano)
		case filter.ID:
			return strings.ToUpper(id.New().String())
		default:
			return one(d, hostile)
		}
	}
	found, asked := 0, 0
	for range filters / atOnce {
		questions, parsed := make([]question, atOnce), make([]*filter.Filter, atOnce)
		s.view(func(ctx context.Context, tx *postgres.Tx) error {
			schema := s.schema(ctx, tx)
			for i := range questions {
				questions[i] = d.question(3, values)
				raw, err := json.Marshal(questions[i].json())
				if err != nil {
					return err
				}
				if parsed[i], err = schema(raw); err != nil {
					return fmt.Errorf("%s: %w", raw, err)
				}
			}
			return nil
		})
		bySQL := s.verdicts(parsed)
		for i, q := range questions {
			asked++
			for r := range rows {
				want, mem := q.naive(have[r]), parsed[i].Match(contacts.RecordOf(&rows[r].Contact))
				if got := bySQL[rows[r].ID][i]; got != want || mem != want {
					t.Errorf("%s of %+v: SQL says %v, memory %v, want %v", parsed[i].JSON(), rows[r].Contact, got,
						mem, want)
					return
				}
				if want {
					found++
				}
			}
			if i > 2 {
				continue
			}
			// Also in the form that lists use, where a filter is part of WHERE and may drive the query.
			order := one(d,
				[]contacts.Sort{contacts.Newest, contacts.Oldest, contacts.Highest, contacts.LastName, contacts.Email})
			got, planned := s.ids(contacts.Filter{Where: parsed[i]}, order),
				s.planned(contacts.Filter{Where: parsed[i]}, order)
			if !slices.Equal(got, planned) {
				t.Fatalf("list by %s of %s: what is rare gathered %v, else %v", order, parsed[i].JSON(), got, planned)
			}
			for r := range rows {
				if slices.Contains(got, rows[r].ID) != q.naive(have[r]) {
					t.Fatalf("list by %s of %s has %d, wrong about %+v", order, parsed[i].JSON(), len(got),
						rows[r].Contact)
				}
			}
		}
	}
	if share := float64(found) / float64(asked*len(rows)); asked < filters*50/51 || share < .2 || share > .8 {
		t.Errorf("%d filters of %d with a share of %.2f of the rows, want 0.2 to 0.8", asked, filters, share)
	}
}

func (s *shop) view(fn func(ctx context.Context, tx *postgres.Tx) error) {
	s.t.Helper()
	if err := s.App.ReadTx(s.t.Context(), s.org, func(tx *postgres.Tx) error {
		return fn(s.t.Context(), tx)
	}); err != nil {
		s.t.Fatal(err)
	}
}

// planned returns a list for which the planner chooses the strategy, whatever is selective.
func (s *shop) planned(f contacts.Filter, order contacts.Sort) (out []id.ID) {
	s.t.Helper()
	sql, args, err := contacts.Statement(s.org, &f, order, nil, 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	out = []id.ID{}
	s.view(func(ctx context.Context, tx *postgres.Tx) error {
		contacts.Planned(tx)
		rows, err := tx.Query(ctx, "SELECT id FROM ("+sql+") AS list", args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	return out
}

// schema returns a parser that loads the custom fields once.
func (s *shop) schema(ctx context.Context, tx *postgres.Tx) func([]byte) (*filter.Filter, error) {
	raw := []string{}
	for key := range attributeKinds {
		b, err := json.Marshal(map[string]any{"field": "attributes." + key, "op": "exists", "value": true})
		if err != nil {
			s.t.Fatal(err)
		}
		raw = append(raw, string(b))
	}
	parse := contacts.Parser(ctx, tx)
	if _, err := parse([]byte(`{"any":[` + strings.Join(raw, ",") + `]}`)); err != nil {
		s.t.Fatal(err)
	}
	return parse
}

// verdicts evaluates all filters on all live contacts in the database at once.
func (s *shop) verdicts(filters []*filter.Filter) map[id.ID][]bool {
	s.t.Helper()
	args, asked := []any{s.org}, []string{}
	for _, f := range filters {
		asked = append(asked, "COALESCE("+contacts.Condition(f, &args)+", false)")
	}
	out := map[id.ID][]bool{}
	s.view(func(ctx context.Context, tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, "SELECT c.id, ARRAY["+strings.Join(asked, ", ")+"] "+contacts.Both, args...)
		if err != nil {
			return err
		}
		var (
			i     id.ID
			holds []bool
		)
		_, err = pgx.ForEachRow(rows, []any{&i, &holds}, func() error {
			out[i] = slices.Clone(holds)
			return nil
		})
		return err
	})
	return out
}

func TestAFilterThatNamesAnUndefinedFieldIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := person("ada@acme.example")
	p.Attributes = wire.Some(map[string]any{"plan": "pro"})
	s.must(p)
	s.view(func(ctx context.Context, tx *postgres.Tx) error {
		for raw, want := range map[string]string{
			`{"all":[{"field":"attributes.plan","op":"eq","value":"pro"}]}`: "",
			`{"all":[{"field":"attributes.plan","op":"eq","value":1}]}`:     "/all/0/value invalid_type",
			`{"not":{"field":"attributes.size","op":"eq","value":1}}`:       "/not/field unknown_field",
			`{"field":"attributes.","op":"eq","value":1}`:                   "/field unknown_field",
			`{"field":"score","op":"eq","value":1}`:                         "/field unknown_field",
		} {
			_, err := contacts.ParseFilter(ctx, tx, []byte(raw))
			got := ""
			if wrong, ok := errors.AsType[*filter.Error](err); ok {
				got = wrong.Path + " " + wrong.Code
			}
			if got != want {
				t.Errorf("%s: %q, want %q (%v)", raw, got, want, err)
			}
		}
		return nil
	})
}

func TestABoundOnTheTimeHoldsOnEveryPage(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.crowd(dice{rand.New(rand.NewPCG(3, 4))}, 60, []id.ID{id.New()})
	all := s.list(contacts.Filter{}, contacts.Newest)
	upper, lower := all[10].CreatedAt.Time, all[len(all)-10].CreatedAt.Time
	byWhere := contacts.Filter{
		Where: s.where(
			fmt.Sprintf(
				`{"all":[{"field":"created_at","op":"lt","value":%q},{"field":"created_at","op":"gt","value":%q}]}`,
				all[10].CreatedAt, all[len(all)-10].CreatedAt)),
	}
	want := 0
	for _, r := range all {
		if r.CreatedAt.Before(upper) && r.CreatedAt.After(lower) {
			want++
		}
	}
	for _, f := range []contacts.Filter{byWhere, {CreatedBefore: &upper, CreatedAfter: &lower}} {
		for _, order := range []contacts.Sort{contacts.Newest, contacts.Oldest, contacts.Email} {
			if got := len(s.walk(f, order, 5, func() {})); got != want || want < 20 {
				t.Errorf("%s: %d, want %d", order, got, want)
			}
		}
	}
}
