package migrations_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/migrations"
)

var update = flag.Bool("update", false, "write schema.golden.sql anew")

// parts reads the schema from the catalogue, so that the golden file is the same on every Postgres version.
var parts = []struct{ title, sql string }{
	{"tables", `
		SELECT format('%s (%s)%s', c.relname, string_agg(format('%s %s%s%s', a.attname, format_type(a.atttypid,
		a.atttypmod),
			CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
			coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')), ', ' ORDER BY a.attnum),
			coalesce(' partition by ' || pg_get_partkeydef(c.oid), ''))
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		AND c.relname !~ '^goose'
		GROUP BY c.oid, c.relname ORDER BY c.relname`},
	{"constraints", `
		SELECT format('%s: %s %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid))
		FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
		WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND c.relname !~ '^goose'
		AND contype <> 'n' ORDER BY 1`},
	{"indexes", `
		SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
		WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND c.relname !~ '^goose' ORDER BY 1`},
	{"row policies", `
		SELECT format('%s: %s for %s to %s using (%s) check (%s)%s', p.tablename, p.policyname, p.cmd,
		array_to_string(p.roles, ','), p.qual, p.with_check,
			CASE WHEN c.relforcerowsecurity THEN ' forced' ELSE ' NOT FORCED' END)
		FROM pg_policies p JOIN pg_class c ON c.oid = format('%I', p.tablename)::regclass
		WHERE p.schemaname = 'public' ORDER BY 1`},
	{"grants", `
		SELECT format('%s: %s may %s', table_name, grantee, string_agg(privilege_type, ', ' ORDER BY privilege_type))
		FROM information_schema.role_table_grants WHERE table_schema = 'public' AND grantee LIKE 'funnelwork%'
		GROUP BY table_name, grantee ORDER BY 1`},
	{"functions", `
		SELECT format('%s(%s) %s', proname, pg_get_function_identity_arguments(oid), CASE
		WHEN prosecdef THEN 'as its owner' ELSE 'as its caller' END)
		FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`},
}

func TestTheSchemaIsTheReviewedOne(t *testing.T) {
	t.Parallel()
	got := schema(t, testkit.DB(t).URL)
	if *update {
		if err := os.WriteFile("schema.golden.sql", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("schema.golden.sql")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("schema differs from schema.golden.sql (-update writes it):\n%s", diff)
	}
}

func TestEveryTenantTableIsUnderAForcedRowPolicyAndKeyedByOrgFirst(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	rows, _ := conn.Query(t.Context(), `
		SELECT c.relname || ': ' || CASE
			WHEN NOT (c.relrowsecurity AND c.relforcerowsecurity) THEN 'no forced row security'
			WHEN NOT EXISTS (SELECT FROM pg_policies p WHERE p.tablename = c.relname
			AND p.policyname = 'tenant') THEN 'no tenant policy'
			ELSE 'primary key does not begin with org_id' END
		FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
		LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		  AND NOT (c.relrowsecurity AND c.relforcerowsecurity
		    AND EXISTS (SELECT FROM pg_policies p WHERE p.tablename = c.relname AND p.policyname = 'tenant')
		    AND (i.indkey[0] = a.attnum OR c.relname = 'org'))`)
	bad, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bad {
		t.Error(b)
	}
}

func TestMigratingTwiceAtOnceAndAgainChangesNothing(t *testing.T) {
	t.Parallel()
	url := testkit.DB(t).URL
	before := schema(t, url)
	errs := make(chan error, 2)
	for range 2 {
		go func() { errs <- migrations.Up(context.WithoutCancel(t.Context()), url, testkit.Log(t)) }()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, schema(t, url)); diff != "" {
		t.Error(diff)
	}
	if pending, err := migrations.Pending(t.Context(), url); err != nil || pending {
		t.Errorf("pending = %v, %v; want none", pending, err)
	}
}

var days = regexp.MustCompile(`_\d{8}\b`)

func schema(t *testing.T, url string) string {
	t.Helper()
	conn := connect(t, url)
	var b strings.Builder
	b.WriteString("-- The whole schema, read from the catalogue by migrations_test.go; for review, never run.\n")
	for _, p := range parts {
		rows, _ := conn.Query(t.Context(), p.sql)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", p.title, err)
		}
		fmt.Fprintf(&b, "\n-- %s\n", p.title)
		for _, l := range lines {
			if !days.MatchString(l) {
				b.WriteString(l + "\n")
			}
		}
	}
	return b.String()
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}
