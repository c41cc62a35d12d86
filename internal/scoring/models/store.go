package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Version is a stored model version.
type Version struct {
	Number     int
	CreatedAt  wire.Time
	PromotedAt *wire.Time // nil: never in use
	LearnedTo  time.Time
	Outcomes   int
	Model      *scoring.Model
	Report     *learn.Report
}

// Name returns the name of a version in the API: v7, or the name of the shipped prior.
func Name(number int) string {
	if number == 0 {
		return scoring.Shipped().Version
	}
	return "v" + strconv.Itoa(number)
}

// Number returns the number of the version with the name, or false if the name is malformed.
func Number(name string) (int, bool) {
	if name == scoring.Shipped().Version {
		return 0, true
	}
	digits, ok := strings.CutPrefix(name, "v")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && Name(n) == name
}

// currentNumber returns the number of the version in use, or 0 for the prior.
func currentNumber(ctx context.Context, tx *postgres.Tx) (number int, err error) {
	err = tx.QueryRow(ctx, `SELECT number FROM score_current WHERE org_id = $1`, []any{tx.Org()}, &number)
	if postgres.None(err) {
		return 0, nil
	}
	return number, err
}

func loadModel(ctx context.Context, tx *postgres.Tx, number int) (*scoring.Model, error) {
	if number == 0 {
		return scoring.Shipped(), nil
	}
	var raw []byte
	if err := tx.QueryRow(ctx, `SELECT model FROM score_model WHERE org_id = $1 AND number = $2`,
		[]any{tx.Org(), number}, &raw); err != nil {
		return nil, fmt.Errorf("read model %d: %w", number, err)
	}
	return scoring.Parse(raw)
}

// lockCurrent returns the number of the version in use and locks it until the transaction ends. The lock also
// serializes the creation of versions.
func lockCurrent(ctx context.Context, tx *postgres.Tx) (number int, err error) {
	tx.Queue(`INSERT INTO score_current (org_id) VALUES ($1) ON CONFLICT DO NOTHING`, tx.Org())
	err = tx.QueryRow(ctx, `SELECT number FROM score_current WHERE org_id = $1 FOR UPDATE`, []any{tx.Org()}, &number)
	return number, err
}

// Background work scores with the version that it read, and its contacts are not scored again. The rescoring after a
// new version must therefore not run before such work has committed. Readers of the version take a shared advisory
// lock, and a change of version takes the exclusive lock, so it waits for them.
const (
	holdSQL = `SELECT pg_advisory_xact_lock_shared(hashtextextended('score model', ` +
		`hashtextextended($1::uuid::text, 0)))`
	changeSQL = `SELECT pg_advisory_xact_lock(hashtextextended('score model', hashtextextended($1::uuid::text, 0)))`
)

// confirmSQL raises an error if another version is in use, and otherwise keeps the version in use until the transaction
// ends.
const confirmSQL = `SELECT score_confirm($1, $2)`

// ErrChanged means that the model that scored is no longer in use. The caller calls Book.Forget and scores again.
var ErrChanged = errors.New("the score model has changed")

// Confirm queues a check that version number is in use by tx's org, and keeps it in use until the transaction ends. A
// transaction with scores of another version fails with ErrChanged. So the scores that it commits are final: the
// rescoring of all contacts that follows a change of the version finds them.
func Confirm(tx *postgres.Tx, number int) {
	tx.Queue(confirmSQL, tx.Org(), number).Fn = func(br pgx.BatchResults) error {
		_, err := br.Exec()
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "FW001" {
			return ErrChanged
		}
		return err
	}
}

// queueChange queues that number becomes the version in use.
func queueChange(tx *postgres.Tx, number int) {
	tx.Queue(changeSQL, tx.Org())
	tx.Queue(`UPDATE score_current SET number = $2 WHERE org_id = $1`, tx.Org(), number)
}

const versionColumns = `number, created_at, promoted_at, learned_to, outcomes, model, report`

func scanVersion(row pgx.CollectableRow) (v Version, err error) {
	var model, report []byte
	if err = row.Scan(&v.Number, &v.CreatedAt, &v.PromotedAt, &v.LearnedTo, &v.Outcomes, &model, &report); err != nil {
		return v, err
	}
	if v.Model, err = scoring.Parse(model); err != nil {
		return v, err
	}
	return v, json.Unmarshal(report, &v.Report)
}

// Current returns the version in use. The prior has no report and no times.
func Current(ctx context.Context, tx *postgres.Tx) (Version, error) {
	n, err := currentNumber(ctx, tx)
	if err != nil {
		return Version{}, fmt.Errorf("read the model in use: %w", err)
	}
	return Get(ctx, tx, n)
}

// Held is Current with a lock that keeps the version in use until the transaction ends.
func Held(ctx context.Context, tx *postgres.Tx) (Version, error) {
	tx.Queue(holdSQL, tx.Org())
	return Current(ctx, tx)
}

// Get returns one version, or a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, number int) (Version, error) {
	if number == 0 {
		return Version{Model: scoring.Shipped()}, nil
	}
	rows, err := tx.Query(ctx, `SELECT `+versionColumns+` FROM score_model WHERE org_id = $1 AND number = $2`,
		tx.Org(), number)
	if err != nil {
		return Version{}, fmt.Errorf("read version: %w", err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, scanVersion)
	if postgres.None(err) {
		return v, fault.New(fault.NotFound, "There is no such version.")
	}
	return v, err
}

// List returns at most limit versions below a number, newest first. 0 starts at the newest.
func List(ctx context.Context, tx *postgres.Tx, below, limit int) ([]Version, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+versionColumns+
			` FROM score_model WHERE org_id = $1 AND ($2 = 0 OR number < $2) ORDER BY number DESC LIMIT $3`, tx.Org(),
		below, limit)
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	return pgx.CollectRows(rows, scanVersion)
}

// Count returns the number of learned versions.
func Count(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM score_model WHERE org_id = $1`, []any{tx.Org()}, &n); err != nil {
		return 0, fmt.Errorf("count versions: %w", err)
	}
	return n, nil
}

// ErrSame means that the version is already in use.
var ErrSame = errors.New("the version is already in use")

// Use puts version number into use, whatever its comparison. It returns ErrSame if the version is already in use. An
// unknown version is a not_found fault.
func Use(ctx context.Context, tx *postgres.Tx, number int) (Version, error) {
	was, err := lockCurrent(ctx, tx)
	if err != nil {
		return Version{}, fmt.Errorf("lock the model in use: %w", err)
	}

	v, err := Get(ctx, tx, number)
	if err != nil {
		return v, err
	}
	if was == number {
		return v, ErrSame
	}

	queueChange(tx, number)
	tx.Queue(`UPDATE score_model SET promoted_at = coalesce(promoted_at, $3) WHERE org_id = $1 AND number = $2`,
		tx.Org(), number, wire.Now())
	return v, nil
}

// Told returns v as events represent it.
func (v *Version) Told() events.ScoreModel {
	out := events.ScoreModel{
		Version: Name(v.Number), Confidence: string(v.Model.Confidence),
		Metrics: map[string]float64{"outcomes": float64(v.Outcomes)},
	}
	if v.Report != nil && v.Report.Metrics != nil {
		m := v.Report.Metrics
		maps.Copy(out.Metrics, map[string]float64{"auc": m.AUC, "log_loss": m.LogLoss, "brier": m.Brier, "ece": m.ECE})
	}
	return out
}
