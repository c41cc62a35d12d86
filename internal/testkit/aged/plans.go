package aged

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// prefix begins each line of the server's log: with the database and the name of the
// session.
const prefix = "%d|%a|"

// explain sets a server up so that its log can have the plan of each statement, with the buffers that it read.
// Without the library auto_explain nothing is set, and Record skips its test.
func explain(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "LOAD 'auto_explain'"); err != nil {
		return nil //nolint:nilerr // see above
	}
	for _, sql := range []string{
		"ALTER SYSTEM SET log_line_prefix = '" + prefix + "'",
		"ALTER SYSTEM SET auto_explain.log_analyze = on",
		"ALTER SYSTEM SET auto_explain.log_buffers = on",
		"ALTER SYSTEM SET auto_explain.log_timing = off",
		"ALTER SYSTEM SET auto_explain.log_format = json",
		"ALTER SYSTEM SET session_preload_libraries = 'auto_explain'",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// Node is a node of a plan.
type Node struct {
	Type    string  `json:"Node Type"`
	Table   string  `json:"Relation Name"`
	Index   string  `json:"Index Name"`
	Planned float64 `json:"Plan Rows"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Hit     int     `json:"Shared Hit Blocks"`
	Read    int     `json:"Shared Read Blocks"`
	Plans   []Node  `json:"Plans"`
}

// Buffers is the number of pages that the node and those below it have read.
func (n *Node) Buffers() int { return n.Hit + n.Read }

// Given is the number of rows that the statement returns, changes or is given in arrays, whichever is most.
func (n *Node) Given() int {
	most := n.Rows
	n.each(func(m *Node) {
		if m.Type == "Function Scan" {
			most = max(most, m.Rows*m.Loops)
		}
		if m.Type == "ModifyTable" && len(m.Plans) > 0 {
			most = max(most, m.Plans[0].Rows*m.Plans[0].Loops)
		}
	})
	return int(most)
}

// Worst names the scan that has read most.
func (n *Node) Worst() string {
	worst, at := 0, n
	n.each(func(m *Node) {
		own := m.Buffers()
		for i := range m.Plans {
			own -= m.Plans[i].Buffers()
		}
		if own > worst {
			worst, at = own, m
		}
	})
	name := at.Index
	if name == "" {
		name = at.Table
	}
	return fmt.Sprintf("%s %s: %d of %d buffers, %.0f rows x %.0f, planned %.0f", at.Type, name, worst, n.Buffers(),
		at.Rows, at.Loops, at.Planned)
}

func (n *Node) each(visit func(*Node)) {
	visit(n)
	for i := range n.Plans {
		n.Plans[i].each(visit)
	}
}

// Plan is a statement as it was executed.
type Plan struct {
	Session string // its application_name
	SQL     string `json:"Query Text"`
	Root    Node   `json:"Plan"`
}

// Recorder has the plans of the statements that a server executes.
type Recorder struct {
	t        testing.TB
	log      string
	database string
	offset   int64
}

// Record begins to record the statements of d, whoever sends them. Only one test may record at a time.
func Record(t testing.TB, d *Database) *Recorder {
	t.Helper()
	conn := testkit.Pgx(t, d.URL)
	r := &Recorder{t: t}
	var data, libraries string
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('data_directory'), current_database(), "+
		"current_setting('session_preload_libraries')").Scan(&data, &r.database, &libraries); err != nil {
		t.Fatal(err)
	}
	if libraries == "" {
		testkit.Unavailable(t, errors.New("postgres has no library auto_explain"))
	}
	r.log = filepath.Join(filepath.Dir(data), "postgres.log")
	for _, sql := range []string{
		"ALTER SYSTEM SET auto_explain.log_min_duration = 0",
		"SELECT pg_reload_conf()",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if conn, err := pgx.Connect(ctx, d.URL); err == nil {
			_, _ = conn.Exec(ctx, "ALTER SYSTEM RESET auto_explain.log_min_duration")
			_, _ = conn.Exec(ctx, "SELECT pg_reload_conf()")
			_ = conn.Close(ctx)
		}
	})
	r.Take()
	return r
}

// entry begins a plan in the log.
var entry = regexp.MustCompile(`(?m)^([^|\n]+)\|([^|\n]*)\|LOG:  duration: [0-9.]+ ms  plan:\n`)

// Take returns the plans since the last Take, without those that the test itself has sent.
func (r *Recorder) Take() []Plan {
	r.t.Helper()
	f, err := os.Open(r.log)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(r.offset, io.SeekStart); err != nil {
		r.t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		r.t.Fatal(err)
	}
	r.offset += int64(len(text))
	var out []Plan
	for _, m := range entry.FindAllSubmatchIndex(text, -1) {
		p := Plan{Session: string(text[m[4]:m[5]])}
		if string(text[m[2]:m[3]]) != r.database || !strings.HasPrefix(p.Session, "funnelwork ") {
			continue
		}
		if err := json.Unmarshal(bytes.ReplaceAll(body(text[m[1]:]), []byte("\n\t"), []byte("\n")), &p); err != nil {
			r.t.Fatalf("aged: a plan in the log: %v", err)
		}
		p.SQL = strings.Join(strings.Fields(p.SQL), " ")
		out = append(out, p)
	}
	return out
}

// body is the lines of an entry: those that begin with a tab.
func body(text []byte) []byte {
	end := 0
	for end < len(text) && text[end] == '\t' {
		next := bytes.IndexByte(text[end:], '\n')
		if next < 0 {
			return text
		}
		end += next + 1
	}
	return text[:end]
}
