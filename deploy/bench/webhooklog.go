package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/migrations"
)

// Parameters of a big org's log: the retained days, and the share of one webhook of eleven.
const (
	logDays  = 30
	logShare = 0.6
)

// logOrg is constant, so that its log can be reused.
var logOrg = id.ID{0x01, 0x90, 0xa8, 0xb0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}

// webhookLog measures lists of deliveries of a webhook in an org with n of them, with an attempt each, and the drop of
// a day. The log is built once, a day at a time, and stored in the user's cache directory; a later run adds the days
// since.
func webhookLog(ctx context.Context, log *slog.Logger, n int) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	home := filepath.Join(cache, "funnelwork-bench", fmt.Sprintf("webhooklog-%d", n))
	if err := os.MkdirAll(home, 0o700); err != nil { //nolint:gosec // a temporary directory of ours
		return err
	}
	fmt.Printf("log of %d deliveries and attempts, kept in %s (delete it to be rid of it)\n", n, home)
	w := &world{}
	defer w.close()
	key, err := w.openLog(ctx, log, home, n)
	if err != nil {
		return err
	}
	if err := w.dropDay(ctx, n/logDays); err != nil {
		return err
	}
	api, err := w.start(ctx, "api", "FUNNELWORK_RATE_LIMIT=off")
	if err != nil {
		return err
	}
	return w.listLog(ctx, api.addr, key)
}

// openLog starts the servers and adds the missing days of the log. It returns a key of the org.
func (w *world) openLog(ctx context.Context, log *slog.Logger, home string, n int) (key string, err error) {
	if w.dir, err = os.MkdirTemp("", "funnelwork-bench-"); err != nil {
		return "", err
	}
	w.closers = append(w.closers, func() { _ = os.RemoveAll(w.dir) })
	if w.binary, err = build(ctx, w.dir); err != nil {
		return "", err
	}
	if w.postgres, err = local.StartPostgres(ctx, local.PostgresOptions{Home: home, Log: log}); err != nil {
		return "", err
	}
	w.closers = append(w.closers, func() { _ = w.postgres.Stop(context.WithoutCancel(ctx)) })
	if w.redis, err = local.StartRedis(ctx, local.RedisOptions{Log: log}); err != nil {
		return "", err
	}
	w.closers = append(w.closers, func() { _ = w.redis.Stop(context.WithoutCancel(ctx)) })
	if err = migrations.Up(ctx, w.postgres.URL, log); err != nil {
		return "", err
	}
	if w.admin, err = pgx.Connect(ctx, w.postgres.URL); err != nil {
		return "", err
	}
	w.closers = append(w.closers, func() { _ = w.admin.Close(context.WithoutCancel(ctx)) })
	key, hash := auth.NewAPIKey(logOrg)
	for sql, args := range map[string][]any{
		"INSERT INTO org (id, name) VALUES ($1, 'log') ON CONFLICT DO NOTHING": {logOrg},
		"SET synchronous_commit = off":                                         nil,
		"SELECT make_partitions(7)":                                            nil,
		"CREATE TABLE IF NOT EXISTS bench_day (day date PRIMARY KEY)":          nil,
	} {
		if _, err := w.admin.Exec(ctx, sql, args...); err != nil {
			return "", fmt.Errorf("%s: %w", sql, err)
		}
	}
	if _, err := w.admin.CopyFrom(ctx, pgx.Identifier{"api_key"},
		[]string{"org_id", "id", "name", "role", "hint", "hash", "created_by"},
		pgx.CopyFromRows([][]any{{logOrg, id.New(), "bench", "admin", key[len(key)-4:], hash, id.New()}})); err != nil {
		return "", err
	}
	for h := range 11 {
		if _, err := w.admin.Exec(ctx,
			`INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at)
			VALUES ($1, $2, 'https://example.com/', '{*}', '', now(), now()) ON CONFLICT DO NOTHING`, logOrg,
			logHook(h)); err != nil {
			return "", err
		}
	}
	return key, w.fillDays(ctx, n)
}

// logHook returns the id of the h'th webhook; the first is the big one.
func logHook(h int) id.ID {
	i := logOrg
	i[14], i[15] = 1, byte(h)
	return i
}

// fillDays writes the missing days before today. Of each 1,000 deliveries 10 are exhausted, 8 wait for a retry, one was
// discarded and one has a rare type.
func (w *world) fillDays(ctx context.Context, n int) error {
	today := time.Now().UTC().Truncate(24 * time.Hour)
	filled := false
	for back := logDays; back >= 1; back-- {
		day := today.AddDate(0, 0, -back)
		var there bool
		if err := w.admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM bench_day WHERE day = $1)", day).
			Scan(&there); err != nil || there {
			if err != nil {
				return err
			}
			continue
		}
		began := time.Now()
		if err := w.fillDay(ctx, day, n/logDays); err != nil {
			return fmt.Errorf("fill %s: %w", day.Format(time.DateOnly), err)
		}
		filled = true
		fmt.Printf("built %s in %s\n", day.Format(time.DateOnly), time.Since(began).Round(time.Millisecond))
	}
	if filled {
		_, err := w.admin.Exec(ctx, "VACUUM ANALYZE webhook_delivery, webhook_attempt")
		return err
	}
	return nil
}

func (w *world) fillDay(ctx context.Context, day time.Time, n int) error {
	for _, table := range []string{"webhook_delivery", "webhook_attempt"} {
		if _, err := w.admin.Exec(ctx,
			fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s_%s PARTITION OF %[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')",
				table, day.Format("20060102"), id.Floor(day), id.Floor(day.AddDate(0, 0, 1)))); err != nil {
			return err
		}
	}
	_, err := w.admin.Exec(ctx, `
		WITH d AS (
			INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, status, attempts,
			last_status, last_error, next_attempt_at, created_at, updated_at)
			SELECT $1, uuidv7_at(at), CASE WHEN n % 10 < $5::float8 * 10 THEN $2::uuid
			ELSE overlay($2::uuid::text PLACING lpad(to_hex(1 + n / 10 % 10), 2, '0') FROM 35 FOR 2)::uuid END,
				gen_random_uuid(), CASE WHEN n % 1000 = 777 THEN 'deal.won'
				ELSE 'contact.updated' END, status, 1, CASE WHEN status = 'delivered' THEN 200 ELSE 500 END,
				CASE WHEN status = 'delivered' THEN '' ELSE 'http_status' END, CASE
				WHEN status = 'failed' THEN at + interval '1 day' END, at, at
			FROM (
				SELECT n, $3::timestamptz + n * (interval '1 day' / $4::int) AS at,
					CASE WHEN n * 7919 % 1000 < 10 THEN 'exhausted' WHEN n * 7919 % 1000 < 18 THEN 'failed'
					WHEN n * 7919 % 1000 = 18 THEN 'discarded' ELSE 'delivered' END AS status
				FROM generate_series(0, $4::int - 1) n
			) AS g
			RETURNING id, status, created_at
		)
		INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, status, answer,
		error_class, first_byte_us, total_us, started_at)
		SELECT $1, uuidv7_at(created_at), id, 1, 'event',
		'{"User-Agent":"Funnelwork-Webhooks/1","X-Service-Signature":"' || repeat('0123456789abcdef', 4) || '"}',
			CASE WHEN status = 'delivered' THEN 200 ELSE 500 END, 'ok', CASE WHEN status = 'delivered' THEN ''
			ELSE 'http_status' END, 21000, 22000, created_at
		FROM d`, logOrg, logHook(0), day, n, logShare)
	if err != nil {
		return err
	}
	_, err = w.admin.Exec(ctx, "INSERT INTO bench_day VALUES ($1)", day)
	return err
}

// dropDay fills an expired day and lets retention drop it.
func (w *world) dropDay(ctx context.Context, n int) error {
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -logDays-10)
	if err := w.fillDay(ctx, day, n); err != nil {
		return fmt.Errorf("fill an old day: %w", err)
	}
	began := time.Now()
	days := 0
	for dropped := 1; dropped > 0; days += dropped {
		if err := w.admin.QueryRow(ctx, "SELECT drop_partitions()").Scan(&dropped); err != nil {
			return err
		}
	}
	took := time.Since(began)
	if _, err := w.admin.Exec(ctx, "DELETE FROM bench_day WHERE day = $1", day); err != nil {
		return err
	}
	fmt.Printf("\nretention dropped %d partitions, a day of %d deliveries and attempts among them, in %s\n", days, n,
		short(took))
	verdict(os.Stdout, "retention drops a day in less than 1 s", took < time.Second, short(took))
	return nil
}

// listing is one request for deliveries.
type listing struct {
	name, query string
	anywhere    bool // also before a random moment of the log
	hook        int
	took        []time.Duration
}

// listLog measures the listings in turns, each by four concurrent callers. The floor is the rows of the newest page
// alone, as the superuser, without row policies.
func (w *world) listLog(ctx context.Context, addr, key string) error {
	const callers, rounds, each = 4, 30, 5
	all := []*listing{
		{name: "floor: the rows by status in bare SQL"},
		{name: "newest"},
		{name: "status=exhausted", query: "&status=exhausted"},
		{name: "status=delivered", query: "&status=delivered"},
		{name: "status=failed, anywhere", query: "&status=failed", anywhere: true},
		{name: "status=discarded, anywhere", query: "&status=discarded", anywhere: true},
		{name: "event_type=deal.won", query: "&event_type=deal.won"},
		{name: "of a smaller webhook, status=exhausted", query: "&status=exhausted", hook: 3},
	}
	clients := newClients(addr, callers)
	floors := make([]*pgx.Conn, callers)
	for i := range floors {
		conn, err := pgx.Connect(ctx, w.postgres.URL)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
		floors[i] = conn
	}
	ask := func(l *listing, c int) error {
		if l == all[0] {
			rows, err := floors[c].Query(ctx,
				`SELECT * FROM webhook_delivery WHERE org_id = $1 AND endpoint_id = $2 AND status = 'exhausted'
					ORDER BY id DESC LIMIT 51`, logOrg, logHook(0))
			if err != nil {
				return err
			}
			for rows.Next() {
			}
			return rows.Err()
		}
		path := "/api/v1/webhooks/" + logHook(l.hook).String() + "/deliveries?limit=50" + l.query
		if l.anywhere {
			path += "&created_before=" + time.Now().UTC().Add(-time.Duration(rand.IntN(24*(logDays-1)))*time.Hour).
				Format(time.RFC3339)
		}
		return clients.call(c, key, fasthttp.MethodGet, path, nil, fasthttp.StatusOK, nil)
	}
	for round := range rounds + 1 {
		for _, i := range rand.Perm(len(all)) {
			var wait sync.WaitGroup
			took, errs := make([][]time.Duration, callers), make([]error, callers)
			for c := range callers {
				wait.Go(func() {
					for range each {
						began := time.Now()
						if errs[c] = ask(all[i], c); errs[c] != nil {
							return
						}
						took[c] = append(took[c], time.Since(began))
					}
				})
			}
			wait.Wait()
			for c := range callers {
				if errs[c] != nil {
					return fmt.Errorf("%s: %w", all[i].name, errs[c])
				}
				if round > 0 { // the first round warms up
					all[i].took = append(all[i].took, took[c]...)
				}
			}
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\npages of 50 with their attempts, by four callers at once\tp50\tp95\tp99")
	worst := time.Duration(0)
	for i, l := range all {
		slices.Sort(l.took)
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", l.name, short(quantile(l.took, .5)), short(quantile(l.took, .95)),
			short(quantile(l.took, .99)))
		if i > 0 {
			worst = max(worst, quantile(l.took, .95))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	verdict(os.Stdout, "deliveries by webhook and status: p95 less than 100 ms", worst < 100*time.Millisecond,
		short(worst)+" at worst")
	return nil
}
