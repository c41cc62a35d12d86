// This file is long because all its tests share one desk. Most tests are a short file and its result.

package contactimport_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/contactimportundo"
)

// desk is one org and the jobs of its files.
type desk struct {
	*testkit.Database
	t    *testing.T
	org  id.ID
	sql  *pgx.Conn
	work map[string]queue.Handler
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{Database: testkit.DB(t), t: t, org: id.New(), work: map[string]queue.Handler{}}
	d.sql = testkit.Pgx(t, d.URL)
	d.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, d.org)
	job := contactimport.Job{
		Plans: plans.Standard(),
		Model: func(context.Context, *postgres.Tx) (*scoring.Model, error) {
			return scoring.Shipped(), nil
		}, Links: "https://shop.test/files/", Log: testkit.Log(t),
	}
	for _, h := range []queue.Handler{
		job.Handler(), contactimportundo.Job{Import: job}.Handler(),
		contactexport.Job{Links: "https://shop.test/files/", Log: testkit.Log(t)}.Handler(),
	} {
		d.work[h.Kind] = h
	}
	return d
}

func (d *desk) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.sql.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

func (d *desk) one(sql string, args ...any) (s string) {
	d.t.Helper()
	if err := d.sql.QueryRow(d.t.Context(), "SELECT ("+sql+")::text", args...).Scan(&s); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
	return s
}

func (d *desk) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	d.t.Helper()
	if err := d.App.Tx(d.t.Context(), d.org, func(tx *postgres.Tx) error { return fn(d.t.Context(), tx) }); err != nil {
		d.t.Fatal(err)
	}
}

// send uploads a file and creates its import.
func (d *desk) send(file string, c imports.Choices) (i imports.Import) {
	d.t.Helper()
	s, err := imports.Stage(d.t.Context(), d.App, d.org, strings.NewReader(file), sheet.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		if i, err = imports.Queue(ctx, tx, s, c); err != nil {
			return err
		}
		return contactimport.Kind.Add(ctx, tx, contactimport.Args{Import: i.ID})
	})
	return i
}

// step runs the waiting jobs of these kinds once. It returns false if there were none.
func (d *desk) step() bool {
	d.t.Helper()
	rows, _ := d.sql.Query(d.t.Context(), `DELETE FROM job WHERE kind = ANY ($1) RETURNING id, org_id, kind, args`,
		slices.Collect(maps.Keys(d.work)))
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c queue.Claimed, err error) {
		c.Attempt, c.MaxAttempts = 1, 8
		return c, row.Scan(&c.ID, &c.Org, &c.Kind, &c.Raw)
	})
	if err != nil {
		d.t.Fatal(err)
	}
	for i := range all {
		d.tx(func(ctx context.Context, tx *postgres.Tx) error { return d.work[all[i].Kind].Tx(ctx, tx, &all[i]) })
	}
	return len(all) > 0
}

func (d *desk) get(i id.ID) (out imports.Import) {
	d.t.Helper()
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		out, err = imports.Get(ctx, tx, i)
		return err
	})
	return out
}

// bring runs the import of a file to its end.
func (d *desk) bring(file string, c imports.Choices) imports.Import {
	d.t.Helper()
	i := d.send(file, c)
	for d.step() {
	}
	i = d.get(i.ID)
	if i.Status != "completed" {
		d.t.Fatalf("%+v", i)
	}
	return i
}

func counts(i imports.Import) string {
	return fmt.Sprintf("total %d created %d updated %d unchanged %d failed %d repeated %d", i.RowsTotal,
		i.RowsCreated, i.RowsUpdated, i.RowsUnchanged, i.RowsFailed, i.RowsRepeated)
}

// file returns the export of the org's contacts.
func (d *desk) file(w exports.Wanted) string {
	d.t.Helper()
	var e exports.Export
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		if e, err = exports.Start(ctx, tx, w); err != nil {
			return err
		}
		return contactexport.Kind.Add(ctx, tx, contactexport.Args{Export: e.ID})
	})
	for d.step() {
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		e, err = exports.Get(ctx, tx, e.ID)
		return err
	})
	if e.Status != "completed" {
		d.t.Fatalf("%+v", e)
	}
	b := d.all(exports.Parts(&e, d.App, d.org))
	if int64(len(b)) != e.Bytes {
		d.t.Errorf("%d bytes, %d told", len(b), e.Bytes)
	}
	return b
}

func (d *desk) all(next func(context.Context) ([]byte, error)) string {
	d.t.Helper()
	var b bytes.Buffer
	for {
		part, err := next(d.t.Context())
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			d.t.Fatal(err)
		}
		b.Write(part)
	}
}

func (d *desk) failed(i imports.Import) string {
	d.t.Helper()
	return d.all(imports.Failed(&i, d.App, d.org))
}

func (d *desk) undo(i id.ID) *imports.Undo {
	d.t.Helper()
	d.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, started, err := imports.Undoing(ctx, tx, i)
		if err == nil && started {
			err = contactimportundo.Kind.Add(ctx, tx, contactimportundo.Args{Import: i})
		}
		return err
	})
	for d.step() {
	}
	return d.get(i).Undo
}

func TestAFileIsReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	d := open(t)
	i := d.bring(
		"\ufeffE-Mail;First Name;Surname;Tags;Plan size;Active;Since;ZIP;Created;Ignored by name;lead_score\r\n"+
			"Ada@Example.test;Ada;\"Love;lace\";vip|news;12.5;true;2024-02-03;01234;2020-01-02T03:04:05Z;x;99\r\n"+
			"bob@example.test;Bob;\"O\"\"Hara\nJr\";;7;false;2024-02-04;99999;;;\r\n",
		imports.Choices{Mapping: []byte(`{"Ignored by name": null}`)})
	if got := counts(i); got != "total 2 created 1 updated 0 unchanged 0 failed 1 repeated 0" {
		t.Error(got)
	}
	got := d.one(`SELECT concat_ws(' ', email, first_name, last_name, tags, attributes, stage, created_at AT TIME
		ZONE 'UTC') FROM contact`)
	if want := `Ada@Example.test Ada Love;lace {vip,news} {"ZIP": "01234", "Since": "2024-02-03", "Active": true, ` +
		`"Plan size": 12.5} lead 2020-01-02 03:04:05`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := d.one(`SELECT string_agg(key || ' ' || type, ',' ORDER BY key) FROM contact_field`); got !=
		"Active boolean,Plan size number,Since date,ZIP string" {
		t.Error(got)
	}
	if got := d.failed(i); got !=
		"row;code;detail;E-Mail;First Name;Surname;Tags;Plan size;Active;Since;ZIP;Created;Ignored by "+
			"name;lead_score\n"+
			"3;invalid_characters;last_name: Control characters are not "+
			"allowed.;bob@example.test;Bob;\"O\"\"Hara\nJr\";;7;false;2024-02-04;99999;;;\n" {
		t.Error(got)
	}
}

// TestRefusedRowsAreWrittenAsTheyCame imports the file of refused rows again, untouched: the rows fail again, and the
// second file has the same lines.
func TestRefusedRowsAreWrittenAsTheyCame(t *testing.T) {
	t.Parallel()
	d := open(t)
	lines := []string{
		"a@example.test;A", `"b@example"; "B";L;more`, "c@example.test;\"C\nD\";\"\"", `d@example.test;"D;L`,
		"none;  E;L;;", "=1+1;E;L", "f@example.test;\x00;L", "g@example.test;\"G\"\"\";\r\r\nx",
	}
	i := d.bring("email;first_name;last_name;note\n"+strings.Join(lines, "\n")+"\n", imports.Choices{Strict: true})
	file := d.failed(i)
	for _, l := range lines {
		if l[0] != 'g' && !strings.Contains(file, ";"+l+"\n") {
			t.Errorf("%q is not in the file", l)
		}
	}
	again := d.bring(file, imports.Choices{Strict: true})
	if again.RowsFailed != again.RowsTotal || again.RowsFailed != i.RowsFailed {
		t.Errorf("%s, then %s", counts(i), counts(again))
	}
	cut := func(file string) string { return regexp.MustCompile(`(?m)^\d+;`).ReplaceAllString(file, "") }
	if diff := cmp.Diff(cut(file), cut(d.failed(again))); diff != "" {
		t.Errorf("the refused rows (-first +second):\n%s", diff)
	}
	if n := d.one("SELECT count(*) FROM contact_field"); n != "0" {
		t.Errorf("%s custom fields", n)
	}
}

func TestWhatIsWrongWithARowFailsThatRowAlone(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.exec(`INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at)
		VALUES ($1, 'size', 'size', 'number', now(), now())`, d.org)
	rows := []struct{ row, code, warning string }{
		{"a@example.test,A,B,,", "", ""},
		{"not an address,A,B,,", "invalid_email", ""},
		{"b@example.test,,B,,", "required", ""},
		{"c@example.test,A,B,nowhere,", "", "stage unknown_stage"},
		{"d@example.test,A,B,,large", "", "size wrong_type"},
		{"e@example.test,A", "required", ""},
		{"f@example.test,A,B,,,,", "", ""},
		{"g@example.test,A\xff,B,,", "", "read_as_windows_1252"},
		{"h@example.test,A\x00,B,,", "invalid_characters", ""},
		{`i@example.test,A"b,B,,`, "", ""},
		{",A,B,,", "required", ""},
		{" j@example.test ,A,B,,7", "", ""},
		{"k@example.test,'=A,B,,", "", ""},
		{"l@example.test,A,B,,,x", "wrong_column_count", ""},
		{"m@example.test,A,\x81,,", "invalid_utf8", ""},
		{",,,,", "", ""},
	}
	file, want, warned := "email,first_name,last_name,stage,size\n", "", ""
	for n, r := range rows {
		file += r.row + "\n"
		if r.code != "" {
			want += fmt.Sprintf("%d %s;", n+2, r.code)
		}
		if r.warning != "" {
			warned += fmt.Sprintf("%d %s;", n+2, r.warning)
		}
	}
	i := d.bring(file, imports.Choices{})
	if got := counts(i); got != "total 16 created 8 updated 0 unchanged 0 failed 7 repeated 0" || i.RowsBlank != 1 ||
		i.WarningsCount != 3 {
		t.Errorf("%s, %d blank, %d warnings", got, i.RowsBlank, i.WarningsCount)
	}
	if got := d.one(`SELECT string_agg(row || ' ' || code || ';', '' ORDER BY row) FROM contact_import_error`); got !=
		want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := d.one(`SELECT string_agg(concat_ws(' ', row, col, code) || ';', '' ORDER BY number)
		FROM contact_import_warning`); got != warned {
		t.Errorf("%s\nwant %s", got, warned)
	}
	if got := d.one(`SELECT string_agg(email || first_name, ' ' ORDER BY email) FROM contact`); got !=
		"a@example.testA c@example.testA d@example.testA f@example.testA g@example.testAÿ i@example.testA\"b "+
			"j@example.testA k@example.test=A" {
		t.Error(got)
	}
	strict := d.bring(file, imports.Choices{Strict: true})
	if strict.RowsFailed != 9 || strict.WarningsCount != 1 {
		t.Errorf("strict: %s, %d warnings", counts(strict), strict.WarningsCount)
	}
}

func TestAFileThatIsNoneIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	d := open(t)
	for file, code := range map[string]string{
		"":                                       "required",
		"\"":                                     "malformed_row",
		"%PDF-1.4\n":                             "unsupported_file",
		"email," + strings.Repeat("x,", 600):     "too_many_columns",
		"email\n\"" + strings.Repeat("x", 2<<20): "record_too_long",
	} {
		_, err := imports.Stage(t.Context(), d.App, d.org, strings.NewReader(file), sheet.Options{})
		if f := fault.Of(err); f == nil || f.Fields[0].Code != code {
			t.Errorf("%.20q: %v, want %s", file, err, code)
		}
	}
	broken := io.MultiReader(strings.NewReader("email\n"+strings.Repeat("a@example.test\n", 2500)), brokenReader{})
	if _, err := imports.Stage(t.Context(), d.App, d.org, broken, sheet.Options{}); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
	if n := d.one(`SELECT count(*) FROM contact_import`) +
		d.one(`SELECT count(*) FROM contact_import_block`); n != "00" {
		t.Errorf("%s imports and blocks are left", n)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// people returns a file of n rows for n/3 contacts, in independent blocks.
func people(n int) string {
	var b strings.Builder
	b.WriteString("email,first_name,last_name,job_title,tag,attributes.size\n")
	for i := range n {
		k := i * 7919 % (n/3 + 1)
		fmt.Fprintf(&b, "Person%d@example.test,First%d,Last%d,%s,%s,%d\n", k, k, k, []string{"", "CTO", "Clerk"}[i%3],
			[]string{"", "a;b", "c"}[i%3], i%5)
	}
	return b.String()
}

func TestADryRunSaysWhatWouldBeAndWritesNothing(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.bring("email,first_name,last_name\nperson1@example.test,First1,Last1\nperson2@example.test,Else,Last2\n",
		imports.Choices{})
	file := people(2500) + "wrong\n"
	before := d.file(exports.Wanted{Format: exports.CSV})
	dry := d.bring(file, imports.Choices{DryRun: true})
	if after := d.file(exports.Wanted{Format: exports.CSV}); after != before {
		t.Error("a dry run has written")
	}
	done := d.bring(file, imports.Choices{})
	if diff := cmp.Diff(counts(done), counts(dry)); diff != "" {
		t.Errorf("the counts of the dry run (-import +dry run):\n%s", diff)
	}
	if done.RowsCreated != 832 {
		t.Errorf("%d created, want 832", done.RowsCreated)
	}
	if done.RowsRepeated != 2500-834 || done.RowsUpdated != 2 || done.WarningsCount != done.RowsRepeated {
		t.Errorf("%d repeated, %d updated, %d warnings; want 1666, 2, 1666", done.RowsRepeated, done.RowsUpdated,
			done.WarningsCount)
	}
	if d.one(`SELECT count(*) FROM contact`) != "834" {
		t.Error(d.one(`SELECT count(*) FROM contact`))
	}
}

// TestAnImportWritesWhatTheBatchWrites writes the same rows through the import and the batch endpoint, and compares
// contacts, search words, tags, scores and the rest.
func TestAnImportWritesWhatTheBatchWrites(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.bring(people(1500), imports.Choices{})
	other := id.New()
	d.exec(`INSERT INTO org (id, name) VALUES ($1, 'Other')`, other)
	for n, line := range strings.Split(strings.TrimSpace(people(1500)), "\n") {
		if n == 0 {
			continue
		}
		f := strings.Split(line, ",")
		u := contacts.Upsert{}
		u.Email, u.FirstName, u.LastName = wire.Some(f[0]), wire.Some(f[1]), wire.Some(f[2])
		if f[3] != "" {
			u.JobTitle, u.Tag = wire.Some(f[3]), wire.Some(strings.Split(f[4], ";"))
		}
		u.Attributes = wire.Some(map[string]any{"size": float64(f[5][0] - '0')})
		if err := d.App.Tx(t.Context(), other, func(tx *postgres.Tx) error {
			how := contacts.Batch{Rate: scoring.Shipped().Rate}
			out, _, _, err := how.Upsert(t.Context(), tx, []contacts.Upsert{u})
			if err == nil && out[0].Fault != nil {
				err = out[0].Fault
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{
		"contact", "contact_score", "contact_word", "contact_tag", "contact_attribute",
	} {
		key := "contact_id"
		if table == "contact" {
			key = "id"
		}
		const sql = `SELECT string_agg(line, E'\n' ORDER BY line) FROM (SELECT c.email_folded || (to_jsonb(x) -
			ARRAY['org_id', 'id', 'contact_id', 'edit', 'created_at', 'updated_at', 'scored_at',
			'recorded_at']::text[])::text AS line
			FROM %s x JOIN contact c ON c.org_id = x.org_id AND c.id = x.%s WHERE x.org_id = $1) lines`
		got, want := d.one(fmt.Sprintf(sql, table, key), d.org), d.one(fmt.Sprintf(sql, table, key), other)
		if len(want) < 10_000 && table != "contact_tag" || got != want {
			t.Errorf("%s differs: %d bytes, %d one by one", table, len(got), len(want))
		}
	}
}

func TestUndoRestoresTheSameBytes(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.bring(people(300), imports.Choices{})
	d.exec(`UPDATE contact SET updated_at = updated_at - interval '1 day'`)
	before := d.file(exports.Wanted{Format: exports.CSV})
	file := people(2400) + "person3@example.test,Other,Name,CEO,z,9\n"
	file = strings.Replace(file, "attributes.size", "attributes.size,attributes.new,segment", 1)
	file = strings.ReplaceAll(file, "\n", ",x,friends\n")
	file = strings.Replace(file, "attributes.new,segment,x,friends\n", "attributes.new,segment\n", 1)
	i := d.bring(file, imports.Choices{})
	if i.RowsCreated != 700 || i.RowsFailed != 0 {
		t.Fatalf("%s; want 700 created, 0 failed", counts(i))
	}
	if d.file(exports.Wanted{Format: exports.CSV}) == before {
		t.Fatal("the import changed no contact")
	}
	last := d.one(`SELECT max(seq) FROM event`)
	undone := d.undo(i.ID)
	want := *undone
	want.Status, want.Archived, want.Restored, want.Left = "completed", 700, 101, 0
	if diff := cmp.Diff(want, *undone); diff != "" {
		t.Errorf("the undo (-want +got):\n%s", diff)
	}
	if after := d.file(exports.Wanted{Format: exports.CSV}); after != before {
		for n, line := range strings.Split(after, "\n") {
			if was := strings.Split(before, "\n"); n >= len(was) || was[n] != line {
				t.Fatalf("line %d: %s\nwas: %s", n, line, was[min(n, len(was)-1)])
			}
		}
	}
	if got := d.one(`SELECT string_agg(DISTINCT type, ' ') FROM event WHERE seq > $1::text::bigint`,
		last); got != "contact.archived contact.tagged contact.updated export.completed" {
		t.Error(got)
	}
	u := d.undo(i.ID) // again
	if u.Archived != 700 || u.Restored != 101 {
		t.Errorf("%+v", u)
	}
}

func TestUndoLeavesWhatSomebodyHasChanged(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.bring("email,first_name,last_name\na@example.test,A,A\nb@example.test,B,B\nc@example.test,C,C\n",
		imports.Choices{})
	i := d.bring("email,first_name,last_name\na@example.test,A2,A\nb@example.test,B2,B\nd@example.test,D,"+
		"D\ne@example.test,E,E\nc@example.test,C,C\n", imports.Choices{})
	if got := counts(i); got != "total 5 created 2 updated 2 unchanged 1 failed 0 repeated 0" {
		t.Error(got)
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) error {
		for _, email := range []string{"a@example.test", "d@example.test"} {
			holder, err := contacts.Holder(ctx, tx, email)
			if err != nil {
				return err
			}
			if _, err := contacts.Update(ctx, tx, holder, nil, &contacts.Patch{JobTitle: wire.Some("CTO")},
				scoring.Shipped().Rate); err != nil {
				return err
			}
		}
		return nil
	})
	undone := d.undo(i.ID)
	want := *undone
	want.Archived, want.Restored, want.Left = 1, 1, 2
	if diff := cmp.Diff(want, *undone); diff != "" {
		t.Errorf("the undo (-want +got):\n%s", diff)
	}
	if got := d.one(`SELECT string_agg(first_name, ' ' ORDER BY email) FROM contact WHERE archived_at IS NULL`); got !=
		"A2 B C D" {
		t.Error(got)
	}
}

func TestAnExportImportedAgainChangesNothing(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.bring(people(900), imports.Choices{})
	company := id.New().String()
	d.tx(func(ctx context.Context, tx *postgres.Tx) error {
		for n, odd := range []string{
			"=1+1", "'=1+1", "''+x", "+44 (20) 7946-0000", "-5", "-a", "@x", `"q", r`, "'",
			"['x']", `["x"]`, "-2+3", "'-2+3", "＝1+1", "'＋1", "－x", "＠x", "'+49 30", "+49-30",
		} {
			_, err := contacts.Create(tx, &contacts.Patch{
				Email: wire.Some(fmt.Sprintf("odd%d@example.test", n)), FirstName: wire.Some(odd),
				LastName: wire.Some(odd), Phone: wire.Some(odd), CompanyID: wire.Some(company),
				Tag: wire.Some([]string{odd[:1] + "a;b", "c|d", odd[:1]}), Segment: wire.Some([]string{"s;t"}),
				TimeZone: wire.Some("Europe/Berlin"),
				Attributes: wire.Some(map[string]any{
					"=k": odd, "n": -1.5e-7, "big": 9007199254740991.0, "yes": true,
					"day": "2024-01-02", "lines": "a\nb", "text": oddText(n),
				}),
			}, scoring.Shipped().Rate)
			if err != nil && !strings.Contains(err.Error(), "invalid") {
				return err
			}
		}
		return nil
	})
	before := d.file(exports.Wanted{Format: exports.CSV})
	i := d.bring(before, imports.Choices{})
	if got := counts(i); i.RowsUnchanged != i.RowsTotal || i.RowsTotal < 305 {
		t.Errorf("%s\n%s", got, d.failed(i))
	}
	if after := d.file(exports.Wanted{Format: exports.CSV}); after != before {
		t.Error("the file has changed")
	}
	// The values themselves, from the other format.
	first := strings.SplitN(d.file(exports.Wanted{
		Format: exports.NDJSON,
		Filter: json.RawMessage(`{"field":"email","op":"eq","value":"odd0@example.test"}`),
		Fields: []string{"email", "first_name", "tag", "attributes"},
	}), "\n", 2)[0]
	if want := `{"email":"odd0@example.test","first_name":"=1+1","tag":["=a;b","c|d","="],` +
		`"attributes":{"=k":"=1+1","big":9007199254740991,"day":"2024-01-02","lines":"a\nb","n":-1.5e-7,` +
		`"text":"\r\n=1","yes":true}}`; first != want {
		t.Errorf("%s\nwant %s", first, want)
	}
	lines, err := csv.NewReader(strings.NewReader(before)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range slices.Concat(lines...) {
		if formula.MatchString(cell) && !number.MatchString(cell) {
			t.Errorf("a spreadsheet computes %q", cell)
		}
	}
}

// Texts that a spreadsheet takes for a formula, and the exceptions.
var (
	formula = regexp.MustCompile("^[=+\\-@\t\r＝＋－＠]")
	number  = regexp.MustCompile(`^[+-]?[0-9 ()./-]+$`)
)

// oddText returns a text that a CSV parser, a spreadsheet or an import may misread. The first one is always the same.
func oddText(n int) string {
	if n == 0 {
		return "\r\n=1"
	}
	parts := []string{
		"=", "-2+3", "+49 30", "@", "\t", "\r", "\n", "\r\n", "＝", "＋", "－", "＠", "'", `"`, ",", ";",
		"|", " ", "true", "7", "a",
	}
	r := rand.New(rand.NewPCG(uint64(n), 16))
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func TestEveryTextComesBackFromAnExport(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.tx(func(_ context.Context, tx *postgres.Tx) error {
		for n := range 400 {
			_, err := contacts.Create(tx, &contacts.Patch{
				Email: wire.Some(fmt.Sprintf("odd%d@example.test", n)), FirstName: wire.Some("A"),
				LastName:   wire.Some("B"),
				Attributes: wire.Some(map[string]any{"text": "x" + oddText(n), "other": oddText(n)}),
			}, scoring.Shipped().Rate)
			if err != nil {
				return err
			}
		}
		return nil
	})
	all := exports.Wanted{Format: exports.NDJSON, Fields: []string{"email", "attributes"}}
	before := d.file(all)
	for _, form := range []exports.Wanted{
		{Format: exports.CSV}, {Format: exports.CSV, BOM: true}, {Format: exports.XLSX},
	} {
		i := d.bring(d.file(form), imports.Choices{})
		if got := counts(i); i.RowsUnchanged != 400 || i.RowsTotal != 400 {
			t.Errorf("%+v: %s\n%s", form, got, d.failed(i))
		}
	}
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(d.file(all), "\n")); diff != "" {
		t.Errorf("contacts (-before +after):\n%s", diff)
	}
}

func TestALineEndInsideQuotesIsReadAsItWasSentBesideBrokenRows(t *testing.T) {
	t.Parallel()
	d := open(t)
	i := d.bring("email,first_name,last_name,note\r\n"+
		"a@example.test,A,B,\"one\r\ntwo\r\r\nthree\nfour\"\"\r\n\"\r\n"+
		"b@example.test,A\"B,\"C,x\r\n"+
		"c@example.test,A,\"B\"C,\"x\r\n"+
		"d@example.test,A,B,last\r\n", imports.Choices{})
	if got := counts(i); got != "total 4 created 2 updated 0 unchanged 0 failed 2 repeated 0" {
		t.Errorf("%s\n%s", got, d.failed(i))
	}
	got := d.one(`SELECT json_agg(attributes ->> 'note' ORDER BY email)::text FROM contact`)
	if want := `["one\r\ntwo\r\r\nthree\nfour\"\r\n", "last"]`; got != want {
		t.Errorf("notes are %s, want %s", got, want)
	}
}

func TestEachContactIsToldOnceUnlessEventsAreSuppressed(t *testing.T) {
	t.Parallel()
	d := open(t)
	hook := id.New()
	d.exec(`INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at)
		VALUES ($1, $2, 'https://hook.test', '{*}', '', now(), now())`, d.org, hook)
	d.bring(people(1500), imports.Choices{})
	const told = `SELECT count(*) || ' ' || count(DISTINCT data -> 'object' ->> 'id') FROM event
		WHERE type = 'contact.created'`
	if got := d.one(told); got != "501 501" {
		t.Error(got)
	}
	if d.one(`SELECT count(*) FROM timeline WHERE type = 'contact.created'`) != "501" {
		t.Error("timelines lack entries")
	}
	if x, y := d.one(`SELECT count(*) FROM event`),
		d.one(`SELECT count(*) FROM webhook_delivery WHERE endpoint_id = $1`, hook); x != y {
		t.Errorf("%s events, %s deliveries", x, y)
	}
	// They wait for the feeder under the endpoint's concurrency key. None has taken a slot from live events.
	if got := d.one(
		`SELECT count(*) FROM job WHERE kind = 'webhook.deliver' AND (wake_at IS NOT NULL OR line IS DISTINCT
			FROM $1)`, hook); got != "0" {
		t.Errorf("%s deliveries have a slot", got)
	}
	before := d.one(`SELECT count(*) FROM event`)
	i := d.bring("email,first_name,last_name\nnew@example.test,A,B\nperson1@example.test,Else,B\n",
		imports.Choices{SuppressEvents: true})
	if got := d.one(`SELECT string_agg(type, ' ' ORDER BY seq) FROM (SELECT type, seq FROM event ORDER BY seq DESC
		LIMIT (SELECT count(*) FROM event) - $1::text::int) new`, before); got != "import.completed" {
		t.Error(got)
	}
	if !i.SuppressEvents {
		t.Error("suppress_events is false")
	}
	if i.RowsCreated != 1 || i.RowsUpdated != 1 {
		t.Errorf("%s; want 1 created, 1 updated", counts(i))
	}
	if got := d.one(`SELECT count(*) FROM contact_score WHERE first_version IS NULL`); got != "502" {
		t.Errorf("%s contacts have their first scores, want 502", got)
	}
	if got := d.one(`SELECT count(*) FROM job WHERE kind = 'lead.score'`); got != "0" {
		t.Errorf("%s jobs of the default lane", got)
	}
}

func TestAFullPlanFailsTheRowsThatDoNotFit(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.exec(`INSERT INTO quota (org_id, feature, cap, used) VALUES ($1, 'contacts', 1200, 0)`, d.org)
	var b strings.Builder
	b.WriteString("email,first_name,last_name\n")
	for n := range 1500 {
		fmt.Fprintf(&b, "p%d@example.test,A,B\n", n)
	}
	dry := d.bring(b.String(), imports.Choices{DryRun: true})
	i := d.bring(b.String(), imports.Choices{})
	if got := counts(i); got != "total 1500 created 1200 updated 0 unchanged 0 failed 300 repeated 0" ||
		counts(dry) != got {
		t.Errorf("%s; dry %s", got, counts(dry))
	}
	if got := d.one(`SELECT string_agg(DISTINCT code, ' ') FROM contact_import_error`) +
		d.one(`SELECT used FROM quota`); got != "plan_limit_reached1200" {
		t.Error(got)
	}
}

func TestAStepThatKeepsFailingEndsTheImport(t *testing.T) {
	t.Parallel()
	d := open(t)
	i := d.send(people(10), imports.Choices{})
	d.exec(`UPDATE contact_import_block SET data = '\x0501'`)
	h, args := d.work[contactimport.Kind.Name()], []byte(`{"import":"`+i.ID.String()+`"}`)
	for attempt := 1; attempt <= 8; attempt++ {
		err := d.App.Tx(t.Context(), d.org, func(tx *postgres.Tx) error {
			return h.Tx(t.Context(), tx,
				&queue.Claimed{ID: id.New(), Org: d.org, Kind: h.Kind, Raw: args, Attempt: attempt, MaxAttempts: 8})
		})
		if (err == nil) != (attempt == 8) {
			t.Errorf("attempt %d: %v", attempt, err)
		}
	}
	i = d.get(i.ID)
	if i.Status != "failed" || i.Error == nil || i.CompletedAt == nil {
		t.Errorf("status %s, error %v, completed_at %v; want failed, an error, a time", i.Status, i.Error,
			i.CompletedAt)
	}
	if n := d.one(`SELECT count(*) FROM event WHERE type = 'import.completed'`); n != "1" {
		t.Errorf("%s events import.completed, want 1", n)
	}
}
