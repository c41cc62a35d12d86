package aged

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Request is one read of the walk.
type Request struct {
	// Name is the operation's path with the parameters as the walk has them: the same in each org.
	Name string
	// Path is the path with the values of the org.
	Path string
	// Operation is the operation's path.
	Operation string
}

// document is what the walk needs of the API's document.
type document struct {
	Paths map[string]struct {
		Get *struct {
			Parameters []parameter `json:"parameters"`
		} `json:"get"`
	} `json:"paths"`
}

type parameter struct {
	Name   string `json:"name"`
	In     string `json:"in"`
	Schema struct {
		Enum []any `json:"enum"`
	} `json:"schema"`
}

// Reads returns all reads of the org: each GET operation of the API's document bare, with each value of each parameter,
// and with each of these in each order. conn reads the values from the database.
func Reads(ctx context.Context, conn *pgx.Conn, org Org, text []byte) ([]Request, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, conn: conn, org: org}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		op := d.Paths[path].Get
		if op == nil || slices.ContainsFunc(noReads, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		if err := w.operation(path, op.Parameters); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return w.reads, nil
}

// walk makes the reads of an org.
type walk struct {
	ctx   context.Context //nolint:containedctx // of one call of Reads
	conn  *pgx.Conn
	org   Org
	reads []Request
}

// mostValues is the length of an enumeration from which valuesOf has the values that are tried.
const mostValues = 12

// operation adds the reads of an operation.
func (w *walk) operation(path string, parameters []parameter) error {
	at, err := w.located(path)
	if err != nil || at == "" {
		return err
	}
	orders, filters, err := choices(parameters)
	if err != nil {
		return err
	}
	queries := [][][2]string{}
	if path != "/api/v1/search" { // it needs a word
		queries = append(queries, nil)
	}
	for _, f := range filters {
		queries = append(queries, [][2]string{f})
	}
	for _, order := range orders {
		queries = append(queries, [][2]string{{"sort", order}})
		for _, f := range filters {
			if f[0] != "count" {
				queries = append(queries, [][2]string{f, {"sort", order}})
			}
		}
	}
	for _, q := range queries {
		if err := w.add(path, at, q); err != nil {
			return err
		}
	}
	return nil
}

// choices returns the orders of an operation, and its other parameters with each of their values.
func choices(parameters []parameter) (orders []string, filters [][2]string, err error) {
	for _, p := range parameters {
		if p.In != "query" || slices.Contains([]string{"limit", "cursor", "include_archived"}, p.Name) {
			continue
		}
		values, known := valuesOf[p.Name]
		if n := len(p.Schema.Enum); n > 0 && n <= mostValues {
			values, known = nil, true
			for _, v := range p.Schema.Enum {
				values = append(values, fmt.Sprint(v))
			}
		}
		if !known {
			return nil, nil, fmt.Errorf("valuesOf has nothing for %s", p.Name)
		}
		if p.Name == "sort" {
			orders = values
			continue
		}
		for _, v := range values {
			filters = append(filters, [2]string{p.Name, v})
		}
	}
	return orders, filters, nil
}

// add adds a read, unless the org has no value for it.
func (w *walk) add(path, at string, query [][2]string) error {
	q, shown := url.Values{}, []string{}
	for _, p := range query {
		value, err := w.value(p[1])
		if err != nil || value == "" {
			return err
		}
		q.Set(p[0], value)
		if strings.HasPrefix(p[1], "SELECT ") {
			p[1] = "ID"
		}
		shown = append(shown, p[0]+"="+p[1])
	}
	name := path
	if len(query) > 0 {
		name, at = name+"?"+strings.Join(shown, "&"), at+"?"+q.Encode()
	}
	w.reads = append(w.reads, Request{Name: name, Path: at, Operation: path})
	return nil
}

// value returns a value of valuesOf in the org, "" if there is none.
func (w *walk) value(of string) (string, error) {
	if days, ok := strings.CutSuffix(of, " days"); ok {
		n, err := time.ParseDuration(strings.TrimPrefix(days, "-") + "h")
		return time.Now().UTC().Add(-24 * n).Format(time.RFC3339), err
	}
	if !strings.HasPrefix(of, "SELECT") {
		return of, nil
	}
	var got string
	err := w.conn.QueryRow(w.ctx, `WITH x (v) AS (`+of+`), y AS (SELECT v::text, row_number() OVER () AS n,
		count(*) OVER () AS m FROM x) SELECT v FROM y WHERE n = m / 2 + 1`, w.org.ID).Scan(&got)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return got, err
}

// located fills in the placeholders of a path; "" if the org has no such row.
func (w *walk) located(path string) (string, error) {
	var out strings.Builder
	rest := path
	for {
		before, after, found := strings.Cut(rest, "{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		begins := path[:len(path)-len(after)-1]
		of, known := rowOf[begins]
		if !known {
			return "", fmt.Errorf("rowOf has nothing for %s", begins)
		}
		value, err := w.value(of)
		if err != nil || value == "" {
			return "", err
		}
		out.WriteString(value)
		_, rest, _ = strings.Cut(after, "}")
	}
}
