package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/id"
)

// tableRow is a row of a table: its columns as text, nil for NULL, and its primary key.
type tableRow struct {
	table  string
	values []*string
	key    string
}

func (r tableRow) String() string {
	var b strings.Builder
	for _, v := range r.values {
		if v != nil {
			b.WriteString(*v + " ")
		}
	}
	return b.String()
}

// tenantTable is a table's columns that a statement can write, and the places among them of its primary key.
type tenantTable struct {
	columns []string
	key     []int
}

// tenantTables returns the tables with the rows of orgs, without that of jobs.
func tenantTables(ctx context.Context, conn *pgx.Conn) (map[string]tenantTable, error) {
	rows, err := conn.Query(ctx, `SELECT c.relname, a.attname,
			EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey))
		FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
			AND a.attidentity <> 'a'
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
			AND c.relname <> 'job'
			AND EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attname = 'org_id')
		ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, err
	}
	tables := map[string]tenantTable{}
	var name, column string
	var isKey bool
	_, err = pgx.ForEachRow(rows, []any{&name, &column, &isKey}, func() error {
		t := tables[name]
		if isKey {
			t.key = append(t.key, len(t.columns))
		}
		t.columns = append(t.columns, column)
		tables[name] = t
		return nil
	})
	return tables, err
}

// tenantRows returns all rows of an org.
func tenantRows(ctx context.Context, conn *pgx.Conn, org id.ID) (all []tableRow, err error) {
	tables, err := tenantTables(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		t := tables[name]
		rows, err := conn.Query(ctx, "SELECT "+strings.Join(t.columns, "::text, ")+"::text FROM "+name+
			" WHERE org_id = $1", org)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			r := tableRow{table: name, values: make([]*string, len(t.columns)), key: name}
			into := make([]any, len(r.values))
			for i := range into {
				into[i] = &r.values[i]
			}
			if err := rows.Scan(into...); err != nil {
				return nil, err
			}
			for _, i := range t.key {
				r.key += " " + *r.values[i]
			}
			all = append(all, r)
		}
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// copier inserts the rows of one contact again, with ids and a mark of their own.
type copier struct {
	rows  []tableRow
	sql   []string
	holes []string // the texts that each copy replaces: the mark, then the ids
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// newCopier returns a copier of the rows of after whose keys are not in before, those that others refer to first. Rows
// that were only updated, such as counters, are left out.
func newCopier(ctx context.Context, conn *pgx.Conn, org id.ID, mark string, before, after []tableRow) (*copier, error) {
	tables, err := tenantTables(ctx, conn)
	if err != nil {
		return nil, err
	}
	order, err := byReference(ctx, conn, slices.Sorted(maps.Keys(tables)))
	if err != nil {
		return nil, err
	}
	old, known := map[string]bool{}, map[string]bool{org.String(): true}
	for _, r := range before {
		old[r.key] = true
		for _, u := range uuids.FindAllString(r.String(), -1) {
			known[u] = true
		}
	}
	c := &copier{holes: []string{mark}}
	for _, r := range after {
		if old[r.key] {
			continue
		}
		c.rows = append(c.rows, r)
		for _, u := range uuids.FindAllString(r.String(), -1) {
			if !known[u] {
				known[u], c.holes = true, append(c.holes, u)
			}
		}
	}
	slices.SortStableFunc(c.rows, func(a, b tableRow) int {
		return slices.Index(order, a.table) - slices.Index(order, b.table)
	})
	for _, r := range c.rows {
		places := make([]string, len(r.values))
		for i := range places {
			places[i] = fmt.Sprintf("$%d", i+1)
		}
		c.sql = append(c.sql, "INSERT INTO "+r.table+" ("+strings.Join(tables[r.table].columns, ", ")+") VALUES ("+
			strings.Join(places, ", ")+")")
	}
	return c, nil
}

// byReference sorts tables so that each comes after those that its foreign keys name.
func byReference(ctx context.Context, conn *pgx.Conn, tables []string) (order []string, err error) {
	rows, err := conn.Query(ctx, `SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
		WHERE contype = 'f' AND conrelid <> confrelid`)
	if err != nil {
		return nil, err
	}
	needs := map[string][]string{}
	var from, to string
	if _, err := pgx.ForEachRow(rows, []any{&from, &to}, func() error {
		needs[from] = append(needs[from], to)
		return nil
	}); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var visit func(table string)
	visit = func(table string) {
		if seen[table] {
			return
		}
		seen[table] = true
		for _, other := range needs[table] {
			visit(other)
		}
		order = append(order, table)
	}
	for _, table := range tables {
		visit(table)
	}
	return order, nil
}

// only returns a copier of the rows of one table.
func (c *copier) only(table string) *copier {
	out := &copier{holes: c.holes}
	for i, r := range c.rows {
		if r.table == table {
			out.rows, out.sql = append(out.rows, r), append(out.sql, c.sql[i])
		}
	}
	return out
}

// String counts the rows by table.
func (c *copier) String() string {
	var parts []string
	for i := 0; i < len(c.rows); {
		n := 1
		for i+n < len(c.rows) && c.rows[i+n].table == c.rows[i].table {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d of %s", n, c.rows[i].table))
		i += n
	}
	return fmt.Sprintf("%d rows: %s", len(c.rows), strings.Join(parts, ", "))
}

// insert makes one copy in a transaction and one round trip.
func (c *copier) insert(ctx context.Context, pool *pgxpool.Pool) error {
	pairs := []string{c.holes[0], newMark()}
	for _, hole := range c.holes[1:] {
		pairs = append(pairs, hole, id.New().String())
	}
	fill := strings.NewReplacer(pairs...)
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	for i, r := range c.rows {
		args := make([]any, len(r.values))
		for j, v := range r.values {
			if v != nil {
				args[j] = fill.Replace(*v)
			}
		}
		batch.Queue(c.sql[i], args...)
	}
	batch.Queue("COMMIT")
	return pool.SendBatch(ctx, batch).Close()
}

// bare returns a turn of a program that inserts a copy and then sends the event's body with the standard library.
func (s *way) bare(pool *pgxpool.Pool, c *copier, body []byte) func(context.Context) error {
	return func(ctx context.Context) error {
		transport := &http.Transport{MaxIdleConnsPerHost: wayClients}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		return s.all(func(int) error {
			if err := c.insert(ctx, pool); err != nil {
				return err
			}
			return postOnce(ctx, client, s.receiver.url, body)
		})
	}
}
