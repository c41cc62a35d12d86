package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	importRows  = 200_000
	importTurns = 3
)

// crmImports sends a file of 200,000 rows through the API and lets a worker import and then undo it, in a separate org
// beside the big one. The time runs from the first byte sent until the import is completed, with validation, merging of
// repeated addresses (every 50th row), scores, events and timelines. The floor is a bare COPY of the same contacts into
// a table with the same indexes and nothing else: no words, tags, scores, events.
func crmImports(ctx context.Context, c *crm) error {
	worker, err := c.start(ctx, "worker")
	if err != nil {
		return err
	}
	defer worker.stop()
	file := importFile(importRows)
	var rates, floors, ratios []float64
	for range importTurns {
		rate, floor, err := c.importOnce(ctx, worker, file)
		if err != nil {
			return err
		}
		rates, floors, ratios = append(rates, rate), append(floors, floor), append(ratios, floor/rate)
	}
	slices.Sort(rates)
	slices.Sort(floors)
	slices.Sort(ratios)
	fmt.Printf("import: %.0f rows/s end to end (slowest %.0f, best %.0f of %d turns); a bare COPY: %.0f rows/s, "+
		"%.1f times as many (%.1f to %.1f)\n",
		rates[len(rates)/2], rates[0], rates[len(rates)-1], importTurns, floors[len(floors)/2], ratios[len(ratios)/2],
		ratios[0], ratios[len(ratios)-1])
	return nil
}

// importFile returns a CSV of n rows.
func importFile(n int) []byte {
	var b bytes.Buffer
	b.WriteString("email,first_name,last_name,phone,job_title,source,stage,tag,created_at,attributes.bench_plan," +
		"attributes.bench_seats\n")
	for i := range n {
		k := i
		if i%50 == 49 {
			k = i / 2
		}
		fmt.Fprintf(&b,
			"Person.%d@customer%d.example,First%d,Last%d,+44 20 7946 "+
				"%04d,%s,import,%s,%s,2024-%02d-%02dT10:00:00Z,%s,%d\n",
			k, k%5000, k%3000, k%20000, k%10000, []string{"", "CTO", "Head of Marketing", "Clerk"}[k%4],
			[]string{"lead", "mql", "customer"}[k%3],
			[]string{"", "newsletter", "newsletter;vip"}[k%3], 1+k%12, 1+k%28, []string{"basic", "pro"}[k%2], k%200)
	}
	return b.Bytes()
}

// importOnce imports the file into a new org, copies the resulting contacts, undoes the import, and deletes the org.
func (c *crm) importOnce(ctx context.Context, worker *process, file []byte) (rate, floor float64, err error) {
	org := id.New()
	key, hash := auth.NewAPIKey(org)
	defer func() {
		if gone := c.dropOrg(context.WithoutCancel(ctx), org); err == nil {
			err = gone
		}
	}()
	if _, err := c.admin.Exec(ctx, `INSERT INTO org (id, name) VALUES ($1, 'bench import')`, org); err != nil {
		return 0, 0, err
	}
	if _, err := c.admin.Exec(ctx,
		`INSERT INTO api_key (org_id, id, name, role, hint, hash, created_by)
			VALUES ($1, $2, 'bench', 'admin', $3, $4, $5)`, org, id.New(), key[len(key)-4:], hash,
		id.New()); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	at, err := c.upload(ctx, key, file)
	if err != nil {
		return 0, 0, err
	}
	taken := time.Since(began)
	i, err := c.importEnds(ctx, key, at, func(i *shownImport) bool { return i.Status == "completed" })
	if err != nil {
		return 0, 0, err
	}
	took := time.Since(began)
	if i.Failed > 0 || i.Created+i.Updated+i.Unchanged+i.Repeated != importRows {
		return 0, 0, fmt.Errorf("not every row was imported: %+v", i)
	}
	floorTook, err := c.bareCopy(ctx, org)
	if err != nil {
		return 0, 0, err
	}
	undoing := time.Now()
	if err := c.callAPI(ctx, key, http.MethodPost, at+"/undo", http.StatusAccepted, nil); err != nil {
		return 0, 0, err
	}
	if i, err = c.importEnds(ctx, key, at, func(i *shownImport) bool {
		return i.Undo != nil && i.Undo.Status == "completed"
	}); err != nil {
		return 0, 0, err
	}
	fmt.Printf("  %d rows (%.0f MB): taken in %s, imported after %s = %.0f rows/s; bare COPY of %d contacts %s; "+
		"undone in %s; at most %s in the API, %s in the worker\n",
		importRows, float64(len(file))/1e6, taken.Round(time.Millisecond), took.Round(time.Millisecond),
		importRows/took.Seconds(), i.Created,
		floorTook.Round(time.Millisecond), time.Since(undoing).
			Round(time.Millisecond), resident(c.api), resident(worker))
	return importRows / took.Seconds(), float64(i.Created) / floorTook.Seconds(), nil
}

type shownImport struct {
	Status    string
	Created   int `json:"rows_created"`
	Updated   int `json:"rows_updated"`
	Unchanged int `json:"rows_unchanged"`
	Repeated  int `json:"rows_repeated"`
	Failed    int `json:"rows_failed"`
	Undo      *struct{ Status string }
}

func (c *crm) upload(ctx context.Context, key string, file []byte) (at string, err error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "bench.csv")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.api.addr+"/api/v1/crm/contacts/imports",
		&body)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusAccepted {
		said, _ := io.ReadAll(res.Body)
		return "", fmt.Errorf("import: %s: %s", res.Status, said)
	}
	return res.Header.Get("Location"), nil
}

// callAPI makes one request to the API.
func (c *crm) callAPI(ctx context.Context, key, method, path string, want int, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.api.addr+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		return fmt.Errorf("%s %s: %s: %s %w", method, path, res.Status, said, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(said, into)
}

// importEnds polls the import until is reports true.
func (c *crm) importEnds(ctx context.Context, key, at string, is func(*shownImport) bool) (*shownImport, error) {
	for {
		var i shownImport
		if err := c.callAPI(ctx, key, http.MethodGet, at, http.StatusOK, &i); err != nil {
			return nil, err
		}
		if is(&i) {
			return &i, nil
		}
		if i.Status == "failed" {
			return nil, fmt.Errorf("import failed: %+v", i)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// bareCopy returns the duration of a COPY of the org's contacts into a table like theirs.
func (c *crm) bareCopy(ctx context.Context, org id.ID) (time.Duration, error) {
	conn := c.admin.PgConn()
	if _, err := c.admin.Exec(ctx,
		`DROP TABLE IF EXISTS bench_copy; CREATE TABLE bench_copy (LIKE contact INCLUDING ALL)`); err != nil {
		return 0, err
	}
	defer func() { _, _ = c.admin.Exec(context.WithoutCancel(ctx), `DROP TABLE bench_copy`) }()
	var rows bytes.Buffer
	if _, err := conn.CopyTo(ctx, &rows,
		`COPY (SELECT * FROM contact WHERE org_id = '`+org.String()+`') TO STDOUT (FORMAT binary)`); err != nil {
		return 0, err
	}
	began := time.Now()
	_, err := conn.CopyFrom(ctx, &rows, `COPY bench_copy FROM STDIN (FORMAT binary)`)
	return time.Since(began), err
}

// dropOrg deletes every row of an org that the section created.
func (c *crm) dropOrg(ctx context.Context, org id.ID) error {
	rows, err := c.admin.Query(ctx,
		`SELECT DISTINCT o.table_name FROM information_schema.columns o
			JOIN pg_class r ON r.relname = o.table_name AND r.relkind IN ('r', 'p') AND NOT r.relispartition
		WHERE o.table_schema = 'public' AND o.column_name = 'org_id' AND o.table_name <> 'org' ORDER BY 1`)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := c.admin.Exec(ctx, fmt.Sprintf(`DELETE FROM %q WHERE org_id = $1`, table), org); err != nil {
			return fmt.Errorf("empty %s: %w", table, err)
		}
	}
	_, err = c.admin.Exec(ctx, `DELETE FROM org WHERE id = $1`, org)
	return err
}

// resident returns the peak memory of a process, as reported by the kernel.
func resident(p *process) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return "unknown"
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if most, is := strings.CutPrefix(line, "VmHWM:"); is {
			return strings.TrimSpace(most)
		}
	}
	return "unknown"
}
