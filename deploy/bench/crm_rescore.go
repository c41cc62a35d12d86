package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// rescored is the number of contacts in the section's org.
const rescored = 200_000

// crmRescore activates another version of the score model through the API and waits until a worker has rescored all
// contacts of an org. Some versions move each score by a little and announce nothing; one moves all scores so far that
// each is announced. The floor is one bare UPDATE of the same scores.
func crmRescore(ctx context.Context, c *crm) (err error) {
	worker, err := c.start(ctx, "worker")
	if err != nil {
		return err
	}
	defer worker.stop()
	n := min(rescored, c.contacts)
	org := id.New()
	key, hash := auth.NewAPIKey(org)
	defer func() {
		if gone := c.dropOrg(context.WithoutCancel(ctx), org); err == nil {
			err = gone
		}
	}()
	if err := c.rescoreOrg(ctx, org, key, hash, n); err != nil {
		return err
	}
	if _, err := c.rescoreTo(ctx, org, key, 1, n); err != nil { // the stored scores are not from a model
		return err
	}
	var little, floor []float64
	for _, version := range []int{2, 1, 2, 1} {
		bare, err := c.bareRescore(ctx, org)
		if err != nil {
			return err
		}
		took, err := c.rescoreTo(ctx, org, key, version, n)
		if err != nil {
			return err
		}
		little, floor = append(little, float64(n)/took.Seconds()), append(floor, float64(n)/bare.Seconds())
		fmt.Printf("  v%d: %d contacts in %s = %.0f per second; a bare UPDATE of all: %.0f per second\n", version, n,
			took.Round(time.Millisecond), little[len(little)-1], floor[len(floor)-1])
	}
	took, err := c.rescoreTo(ctx, org, key, 3, n)
	if err != nil {
		return err
	}
	var told int
	if err := c.admin.QueryRow(ctx,
		`SELECT count(*) FROM event WHERE org_id = $1 AND type = 'contact.score_changed'
			AND data -> 'object' -> 'score' ->> 'model_version' = 'v3'`, org).Scan(&told); err != nil {
		return err
	}
	fmt.Printf("  v3, which moves scores far: %d contacts in %s = %.0f per second, %d of them told\n", n,
		took.Round(time.Millisecond), float64(n)/took.Seconds(), told)
	s, f := spreadOf(little), spreadOf(floor)
	verdict(os.Stdout, "contacts are scored again at 15,000 per second", s.mid >= 15_000,
		fmt.Sprintf("%.0f [%.0f-%.0f] per second; the bare UPDATE is %.1f times as quick", s.mid, s.low, s.high,
			f.mid/s.mid))
	return nil
}

// rescoreOrg creates an org with the newest contacts of the big one and three versions of the model.
func (c *crm) rescoreOrg(ctx context.Context, org id.ID, key string, hash []byte, n int) error {
	args := pgx.NamedArgs{
		"org": org, "id": id.New(), "hint": key[len(key)-4:], "hash": hash, "by": id.New(),
		"big": c.big.org, "n": n,
	}
	for _, sql := range []string{
		`INSERT INTO org (id, name) VALUES (@org, 'bench rescore')`,
		`INSERT INTO api_key (org_id, id, name, role, hint, hash, created_by)
			VALUES (@org, @id, 'bench', 'admin', @hint, @hash, @by)`,
		`SET session_replication_role = replica`,
		`CREATE TEMP TABLE bench_copied AS SELECT * FROM contact WHERE org_id = @big AND archived_at IS NULL
			ORDER BY created_at DESC LIMIT @n`,
		`CREATE TEMP TABLE bench_scored AS SELECT s.* FROM contact_score s
			JOIN bench_copied c ON s.org_id = c.org_id AND s.contact_id = c.id`,
		`UPDATE bench_copied SET org_id = @org`, `UPDATE bench_scored SET org_id = @org, segments = '{}'`,
		`INSERT INTO contact SELECT * FROM bench_copied`, `INSERT INTO contact_score SELECT * FROM bench_scored`,
		`DROP TABLE bench_copied, bench_scored`, `RESET session_replication_role`, `VACUUM ANALYZE contact_score`,
		`INSERT INTO score_current (org_id) VALUES (@org)`,
	} {
		if _, err := c.admin.Exec(ctx, sql, args); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	for i, shift := range []float64{0, 0.02, 1.5} {
		m := scoring.Prior()
		m.Version, m.Intercept, m.Confidence = fmt.Sprint("v", i+1), m.Intercept+shift, scoring.Learned
		model, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := c.admin.Exec(ctx,
			`INSERT INTO score_model (org_id, number, created_at, learned_to, outcomes, model, report)
				VALUES ($1, $2, now(), now(), 1000, $3, '{}')`, org, i+1, model); err != nil {
			return err
		}
	}
	return nil
}

// rescoreTo activates a version, and returns how long after the response all contacts have its scores.
func (c *crm) rescoreTo(ctx context.Context, org id.ID, key string, version, n int) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.api.addr+"/api/v1/ai/score-model/rollback",
		bytes.NewReader(fmt.Appendf(nil, `{"version":"v%d"}`, version)))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("rollback: %s", res.Status)
	}
	began := time.Now()
	for open := 1; open > 0; {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
		if err := c.admin.QueryRow(ctx,
			`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'lead.rescore' AND state <> 'dead'`, org).
			Scan(&open); err != nil {
			return 0, err
		}
	}
	took := time.Since(began)
	var right int
	if err := c.admin.QueryRow(ctx, `SELECT count(*) FROM contact_score WHERE org_id = $1 AND version = $2`, org,
		fmt.Sprint("v", version)).Scan(&right); err != nil {
		return 0, err
	}
	if right != n {
		return 0, fmt.Errorf("%d of %d contacts have the scores of v%d", right, n, version)
	}
	return took, nil
}

// bareRescore returns how long one statement takes that writes every score of the org and is rolled back.
func (c *crm) bareRescore(ctx context.Context, org id.ID) (time.Duration, error) {
	tx, err := c.admin.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	began := time.Now()
	_, err = tx.Exec(ctx,
		`UPDATE contact_score SET score = least(100, score + 0.01), computed = computed + 1, scored_at = now()
			WHERE org_id = $1`, org)
	return time.Since(began), err
}
