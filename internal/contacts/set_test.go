package contacts_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// rowsAbout returns every row of the org in every table with contacts, without the org's own id and the ids of
// segments.
func rowsAbout(t *testing.T, conn *pgx.Conn, org id.ID) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(),
		`SELECT o.table_name FROM information_schema.columns o JOIN pg_class r ON r.relname = o.table_name
			AND r.relkind IN ('r', 'p') AND NOT r.relispartition
		WHERE o.table_schema = 'public' AND o.column_name = 'org_id' AND (o.table_name = 'contact'
		OR EXISTS (SELECT FROM information_schema.columns c
			WHERE c.table_schema = 'public' AND c.table_name = o.table_name AND c.column_name = 'contact_id'))
			ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 5 {
		t.Fatalf("%v: %v", tables, err)
	}
	var all []string
	for _, table := range tables {
		rows, err := conn.Query(t.Context(),
			fmt.Sprintf(`SELECT (to_jsonb(x) - 'org_id' - 'segment_id' || jsonb_build_object('key', s.key))::text
			FROM %[1]q x LEFT JOIN segment s ON s.org_id = $1 AND s.id::text = to_jsonb(x) ->> 'segment_id'
			WHERE x.org_id = $1 ORDER BY 1`, table), org)
		if err != nil {
			t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range found {
			all = append(all, table+" "+row)
		}
	}
	return all
}

// TestManyAreMadeAsOneIs creates contacts of all shapes in two orgs, one by one and all at once, and compares the rows
// of every table with contacts.
func TestManyAreMadeAsOneIs(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	conn := testkit.Pgx(t, db.URL)
	each, all := id.New(), id.New()
	r := rand.New(rand.NewPCG(7, 11))
	strs := []string{
		"", "a", `quo"te`, `back\slash`, "{brace}", "NULL", "Ünïcode ß", "two words", "semi;colon|bar",
		strings.Repeat("long ", 20),
	}
	keys := []string{"a", `b"`, `c\`, "{d}", "NULL", "ü", "with blank"}
	maybe := func() *string {
		if s := strs[r.IntN(len(strs))]; s != "" {
			return &s
		}
		return nil
	}
	some := func() []string {
		out := []string{}
		for _, k := range keys {
			if r.IntN(3) == 0 {
				out = append(out, k)
			}
		}
		return out
	}
	random := func(c contacts.Contact, n int) contacts.Contact {
		c.FirstName, c.LastName = strs[1+r.IntN(len(strs)-1)], strs[1+r.IntN(len(strs)-1)]
		c.Phone, c.JobTitle, c.Source, c.TimeZone = maybe(), maybe(), maybe(), maybe()
		c.CompanyID, c.OwnerID = nil, nil
		if r.IntN(2) == 0 {
			i := id.New()
			c.CompanyID = &i
		}
		if r.IntN(2) == 0 {
			i := id.New()
			c.OwnerID = &i
		}
		c.Stage, c.Tag, c.Segment = keys[r.IntN(len(keys))], some(), some()
		c.Attributes = map[string]any{}
		for _, k := range some() {
			c.Attributes[k] = []any{1.5, float64(n), true, "text", "2026-01-02", `q"\`}[r.IntN(6)]
		}
		c.LeadScore, c.Score.Probability, c.Score.Confidence, c.Score.ModelVersion = float64(r.IntN(100)),
			r.Float64(), "prior", "m"+keys[r.IntN(2)]
		c.UpdatedAt = wire.At(time.Unix(1_700_000_000+int64(n), 0))
		return c
	}
	var made []*contacts.Contact
	for n := range 60 {
		c := random(contacts.Contact{
			ID: id.New(), Email: fmt.Sprintf("Person.%d@Éxample.test", n),
			CreatedAt: wire.At(time.Unix(1_600_000_000+int64(n), 0)),
		}, n)
		made = append(made, &c)
	}
	for org, insert := range map[id.ID]func(*postgres.Tx, []*contacts.Contact) error{
		each: contacts.InsertEach,
		all:  contacts.InsertAll,
	} {
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			contacts.MakeSegments(tx, keys)
			return insert(tx, made)
		}); err != nil {
			t.Fatal(err)
		}
	}
	x, y := rowsAbout(t, conn, each), rowsAbout(t, conn, all)
	if len(x) < 300 || len(x) != len(y) {
		t.Fatalf("%d rows one by one, %d all at once", len(x), len(y))
	}
	for i := range x {
		if x[i] != y[i] {
			t.Fatalf("one by one:  %s\nall at once: %s", x[i], y[i])
		}
	}
}
