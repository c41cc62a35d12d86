package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"
)

const (
	sizesOfAll    = 20_000
	sizesOfFailed = 5_000
)

// size is that of a table and all its partitions.
type size struct{ rows, heap, indexes int64 }

// sizeOf returns the size of a table without its empty partitions. Compressed values outside the row count as heap.
func (w *world) sizeOf(ctx context.Context, table string) (s size, err error) {
	if err := w.admin.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&s.rows); err != nil {
		return s, err
	}
	err = w.admin.QueryRow(ctx, `SELECT coalesce(sum(pg_table_size(t.relid)), 0)::int8,
			coalesce(sum(pg_indexes_size(t.relid)), 0)::int8
		FROM (SELECT $1::text::regclass AS relid UNION SELECT relid FROM pg_partition_tree($1::text::regclass)) t
		WHERE pg_relation_size(t.relid) > 0`, table).
		Scan(&s.heap, &s.indexes)
	return s, err
}

// sizes prints how many bytes on disk each row takes: of contacts whose webhooks are delivered, then of attempts that
// failed and of the jobs that wait to try again.
func sizes(ctx context.Context, log *slog.Logger) error {
	s, err := openWay(ctx, log, sizesOfAll)
	if err != nil {
		return err
	}
	defer s.close()
	s.receiver.reset()
	if err := errors.Join(s.through(ctx), s.settled(ctx)); err != nil {
		return err
	}
	fmt.Printf("\n%d contacts, each with an event that was delivered at the first attempt\n", s.n)
	if err := s.printSizes(ctx, "contact", "contact_score", "contact_word", "timeline", "event",
		"webhook_delivery"); err != nil {
		return err
	}
	if err := errors.Join(s.forget(ctx), s.clear(ctx)); err != nil {
		return err
	}
	s.receiver.refuse.Store(true)
	s.n = sizesOfFailed
	post := newClients(s.api.addr, wayClients).poster(s.crowd)
	if err := s.all(func(worker int) error { return post(ctx, worker) }); err != nil {
		return err
	}
	if err := pause(ctx, 20*time.Second); err != nil { // most have been tried once, and none has ended
		return err
	}
	s.worker.stop()
	fmt.Printf("\n%d contacts whose events cannot be delivered\n", s.n)
	return s.printSizes(ctx, "webhook_delivery", "webhook_attempt", "job")
}

// printSizes vacuums the tables and prints their sizes.
func (w *world) printSizes(ctx context.Context, tables ...string) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\trows\tbytes a row\ttable\tindexes\t")
	for _, table := range tables {
		if _, err := w.admin.Exec(ctx, "VACUUM "+table); err != nil {
			return err
		}
		s, err := w.sizeOf(ctx, table)
		if err != nil {
			return err
		}
		rows := max(s.rows, 1)
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t\n", table, s.rows, (s.heap+s.indexes)/rows, s.heap/rows, s.indexes/rows)
	}
	return t.Flush()
}
