package main

import (
	"context"
	"fmt"
	"net/smtp"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// The models of how two published senders take recipients, mark them and try them again. Each is the rule alone, in a
// process of its own, on tables of its own; what they do beside it (templates, rates, lists) is left out.
//
// listmonk, internal/manager/pipe.go and queries/campaigns.sql: a campaign has one cursor, which the statement that
// fetches a batch moves to the batch's end. The batch is in memory, and ten workers send it. A mail that fails is
// logged. Nothing is written for a recipient. A campaign that was running when the process died goes on at the cursor.
//
// Notifuse, internal/repository/email_queue_postgres.go and internal/service/queue/worker.go: a row for each mail.
// Fifty are fetched; each is set to processing, sent, and deleted, or set to failed with a time for the next attempt,
// of which there are three. An error of the deletion is logged. A row that is processing for two minutes is fetched
// again.
const (
	listmonkBatch, listmonkWorkers = 1000, 10
	notifuseBatch, notifuseTries   = 50, 3
	notifusePoll                   = 100 * time.Millisecond // a second there
)

const modelTables = `
CREATE SCHEMA model;
CREATE TABLE model.subscriber (id serial PRIMARY KEY, email text NOT NULL);
CREATE TABLE model.campaign (status text NOT NULL, last_subscriber_id int NOT NULL DEFAULT 0);
CREATE TABLE model.email_queue (id serial PRIMARY KEY, email text NOT NULL, status text NOT NULL DEFAULT 'pending',
	attempts int NOT NULL DEFAULT 0, next_retry_at timestamptz, updated_at timestamptz NOT NULL DEFAULT now());`

// model is the process of a model.
func model(ctx context.Context, name, database, sink string) error {
	db, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	switch name {
	case "listmonk":
		return listmonk(ctx, db, sink)
	case "notifuse":
		return notifuse(ctx, db, sink)
	}
	return fmt.Errorf("there is no model of %q", name)
}

// handOver sends a mail.
func handOver(sink, to string) error {
	return smtp.SendMail(sink, nil, "a@shop.example", []string{to},
		[]byte("From: a@shop.example\r\nTo: "+to+"\r\nSubject: Hello\r\n\r\nGood day\r\n"))
}

func listmonk(ctx context.Context, db *pgx.Conn, sink string) error {
	queue := make(chan string)
	var workers sync.WaitGroup
	for range listmonkWorkers {
		workers.Go(func() {
			for to := range queue {
				if err := handOver(sink, to); err != nil {
					fmt.Fprintln(os.Stderr, "model: error sending message:", err)
				}
			}
		})
	}
	for {
		rows, _ := db.Query(ctx, `
			WITH subs AS (
				SELECT id, email FROM model.subscriber
				WHERE id > (SELECT last_subscriber_id FROM model.campaign WHERE status = 'running')
				ORDER BY id LIMIT $1
			), u AS (
				UPDATE model.campaign SET last_subscriber_id = (SELECT max(id) FROM subs)
				WHERE EXISTS (SELECT FROM subs)
			) SELECT email FROM subs`, listmonkBatch)
		batch, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		for _, to := range batch {
			queue <- to
		}
	}
	close(queue)
	workers.Wait()
	_, err := db.Exec(ctx, `UPDATE model.campaign SET status = 'finished'`)
	return err
}

func notifuse(ctx context.Context, db *pgx.Conn, sink string) error {
	const stuck = `(status = 'processing' AND updated_at < now() - interval '2 minutes')`
	for {
		rows, _ := db.Query(ctx, `
			SELECT id, email, attempts FROM model.email_queue
			WHERE (status IN ('pending', 'failed') AND attempts < $1 AND coalesce(next_retry_at, now()) <= now())
				OR `+stuck+`
			ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`, notifuseTries, notifuseBatch)
		batch, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
			ID       int
			Email    string
			Attempts int
		}])
		if err != nil {
			return err
		}
		for _, entry := range batch {
			tag, err := db.Exec(ctx, `UPDATE model.email_queue SET status = 'processing', updated_at = now(),
				attempts = attempts + 1 WHERE id = $1 AND (status IN ('pending', 'failed') OR `+stuck+`)`, entry.ID)
			if err != nil || tag.RowsAffected() == 0 {
				continue
			}
			if err := handOver(sink, entry.Email); err != nil {
				_, err = db.Exec(ctx, `UPDATE model.email_queue SET status = 'failed', updated_at = now(),
					next_retry_at = now() + interval '1 minute' WHERE id = $1`, entry.ID)
				if err != nil {
					fmt.Fprintln(os.Stderr, "model: failed to mark as failed:", err)
				}
				continue
			}
			if _, err := db.Exec(ctx, `DELETE FROM model.email_queue WHERE id = $1`, entry.ID); err != nil {
				fmt.Fprintln(os.Stderr, "model: failed to mark as sent:", err)
			}
		}
		if err := pause(ctx, notifusePoll); err != nil {
			return err
		}
	}
}
