package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// besideRows prints what the requests of load take beside one session that inserts the enrolments' rows again by bare
// SQL, within as long as their enrolment took: the floor of what so many rows cost others. quiet is the p95 without it.
func (o *outreach) besideRows(ctx context.Context, load func() ([]time.Duration, error), quiet, took time.Duration,
) error {
	tables := []string{"enrolment", "event", "timeline"}
	for _, table := range tables {
		for _, sql := range []string{
			`CREATE TABLE floor_` + table + ` (LIKE ` + table + ` INCLUDING ALL)`,
			`CREATE TABLE rows_` + table + ` AS SELECT t AS row, row_number() OVER () AS n FROM ` + table + ` AS t
				WHERE org_id = $1`,
			`CREATE INDEX ON rows_` + table + ` (n)`,
		} {
			args := []any{o.world.orgs[0].org}
			if !strings.Contains(sql, "$1") {
				args = nil
			}
			if _, err := o.admin.Exec(ctx, sql, args...); err != nil {
				return err
			}
		}
	}
	const piece = 4000
	pieces := max(o.contacts/10/piece, 1)
	inserted := make(chan error, 1)
	go func() {
		for i := range pieces {
			began := time.Now()
			batch := &pgx.Batch{}
			for _, table := range tables {
				batch.Queue(`INSERT INTO floor_`+table+` SELECT (row).* FROM rows_`+table+` WHERE n > $1 AND n <= $2`,
					i*piece, (i+1)*piece)
			}
			if err := o.admin.SendBatch(ctx, batch).Close(); err != nil {
				inserted <- err
				return
			}
			_ = pause(ctx, time.Until(began.Add(took/time.Duration(pieces))))
		}
		inserted <- nil
	}()
	busy, err := load()
	if err = errors.Join(err, <-inserted); err != nil {
		return err
	}
	slices.Sort(busy)
	p95 := quantile(busy, .95)
	fmt.Printf("floor: others' p95 beside the same rows by bare SQL %s, %.2f\n", short(p95),
		float64(p95)/float64(quiet))
	return nil
}
