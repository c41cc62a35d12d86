package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/migrations"
)

// archiveRounds is how many days are archived, one after the other.
const archiveRounds = 5

// archiveRows is the usual number of events of a day.
const archiveRows = 200_000

// shelf is an object store in memory.
type shelf map[string][]byte

func (s shelf) Put(_ context.Context, name string, body []byte) error {
	s[name] = bytes.Clone(body)
	return nil
}

func (s shelf) Open(_ context.Context, name string) (io.ReadCloser, error) {
	body, ok := s[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

// size returns the bytes of all objects.
func (s shelf) size() (n int) {
	for _, body := range s {
		n += len(body)
	}
	return n
}

// archives measures how long a day of n events takes to be archived and dropped, beside COPY of the same rows through
// gzip. The store is memory, so that neither a network nor a disk but Postgres's is measured. The archive runs in this
// process: it is the work of one job, and nothing loads it.
func archives(ctx context.Context, log *slog.Logger, n int) error {
	server, err := local.StartPostgres(ctx, local.PostgresOptions{Log: log})
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop(context.WithoutCancel(ctx)) }()
	if err := migrations.Up(ctx, server.URL, log); err != nil {
		return err
	}
	admin, err := pgx.Connect(ctx, server.URL)
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	system, err := postgres.Open(ctx, postgres.Options{URL: server.URL, Role: postgres.System})
	if err != nil {
		return err
	}
	defer system.Close()
	var ours, floor, ratio, bytesOurs, bytesFloor []float64
	for round := range archiveRounds {
		name, err := expiredDay(ctx, admin, round+1, n)
		if err != nil {
			return err
		}
		var bare shelf
		copied, err := took(func() (err error) { bare, err = copyDay(ctx, admin, name); return err })
		if err != nil {
			return err
		}
		store := shelf{}
		days := archive.Days{System: system, Objects: store, Log: log}
		moved, err := took(func() error { return days.Run(ctx, time.Hour) })
		if err != nil {
			return err
		}
		var left bool
		if err := admin.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&left); err != nil || left {
			return fmt.Errorf("the day %s is there after its archive: %w", name, err)
		}
		ours = append(ours, float64(n)/moved.Seconds())
		floor = append(floor, float64(n)/copied.Seconds())
		ratio = append(ratio, copied.Seconds()/moved.Seconds())
		bytesOurs = append(bytesOurs, float64(store.size())/float64(n))
		bytesFloor = append(bytesFloor, float64(bare.size())/float64(n))
	}
	fmt.Printf("\n%d days of %d events\n", archiveRounds, n)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\trows/s [quartiles]\tbytes per row, gzipped\tratio [quartiles]")
	fmt.Fprintf(t, "COPY of JSON through gzip\t%s\t%.0f\t1\n", spreadOf(floor), spreadOf(bytesFloor).mid)
	fmt.Fprintf(t, "archived, read back, counted and dropped\t%s\t%.0f\t%s\n", spreadOf(ours), spreadOf(bytesOurs).mid,
		spreadOf(ratio))
	return t.Flush()
}

// took returns how long f took.
func took(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

// copyDay copies the rows of a day as JSON through gzip, in the order of their key.
func copyDay(ctx context.Context, admin *pgx.Conn, name string) (shelf, error) {
	var object bytes.Buffer
	zip := gzip.NewWriter(&object)
	_, err := admin.PgConn().CopyTo(ctx, zip, `COPY (SELECT row_to_json(t) FROM `+pgx.Identifier{name}.Sanitize()+
		` AS t ORDER BY org_id, id) TO STDOUT`)
	if err != nil {
		return nil, err
	}
	err = zip.Close()
	return shelf{"day.ndjson.gz": object.Bytes()}, err
}

// expiredDay creates a day of January 2020 with n events of a hundred orgs, and returns the name of its table.
func expiredDay(ctx context.Context, admin *pgx.Conn, day, n int) (name string, err error) {
	at := time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC)
	name = "event_" + at.Format("20060102")
	for _, sql := range []string{
		fmt.Sprintf("CREATE TABLE %s PARTITION OF event FOR VALUES FROM (uuid_floor('%s')) TO (uuid_floor('%s'))",
			name, at.Format(time.RFC3339), at.AddDate(0, 0, 1).Format(time.RFC3339)),
		fmt.Sprintf(`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			SELECT md5((g %% 100)::text)::uuid, uuidv7_at('%[1]s'::timestamptz + g * interval '23 hours' / %[2]d), g,
				'contact.updated', 'user', json_build_object('id', md5(g::text), 'email', md5(g::text) || '@x.test',
				'first_name', 'Ada', 'last_name', md5((g %% 5000)::text), 'stage', 'lead', 'score', g %% 100), '%[1]s'
			FROM generate_series(1, %[2]d) g`, at.Format(time.RFC3339), n),
		"ANALYZE " + name,
	} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return "", err
		}
	}
	return name, nil
}
