// Package progress lists the long work that users of an org have asked for: imports, exports, bulk changes, replays and
// trainings. Each kind keeps its own rows, which this package only reads.
package progress

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Job is one piece of long work.
type Job struct {
	ID        id.ID     `json:"id" format:"uuid" doc:"Id of the job"`
	Kind      string    `json:"kind" enum:"import,export,bulk,replay,enrollment,broadcast,merge,train,suppression_import,sequence_move"` //nolint:lll // a tag cannot be broken
	Status    string    `json:"status" enum:"queued,running,completed,failed,cancelled" doc:"State of the work"`
	Done      int64     `json:"done" doc:"Rows, contacts, deliveries or trainings done so far"`
	Total     *int64    `json:"total" doc:"Of how many; null until it is known"`
	Href      string    `json:"href" doc:"Address of the job's own resource, or of its result"`
	CreatedAt wire.Time `json:"created_at" format:"date-time" doc:"When the job was created"`
}

// Descriptions implements wire.Describer.
func (Job) Descriptions() map[string]string {
	return map[string]string{"kind": "Type of the work; its resource is at href"}
}

// source is a table with jobs of one kind. Its SQL expressions are over the table's rows.
type source struct {
	kind, table, where, status, done, total, href string
}

var sources = []source{
	{
		kind: "import", table: "contact_import", where: "status <> 'uploading'", status: "status",
		done:  "rows_created + rows_updated + rows_unchanged + rows_failed + rows_blank + rows_repeated",
		total: "CASE WHEN status <> 'queued' THEN rows_total END", href: "'/api/v1/crm/contacts/imports/' || id::text",
	},
	{
		kind: "export", table: "contact_export", where: "true",
		status: "CASE status WHEN 'expired' THEN 'completed' ELSE status END", done: "rows",
		total: "CASE WHEN status IN ('completed', 'expired') THEN rows END",
		href:  "'/api/v1/crm/contacts/exports/' || id::text",
	},
	{
		kind: "bulk", table: "contact_bulk", where: "true", status: "status",
		done:  "rows_changed + rows_unchanged + rows_failed",
		total: "CASE WHEN status <> 'queued' THEN rows_total END", href: "'/api/v1/crm/contacts/bulk/' || id::text",
	},
	{
		kind: "replay", table: "webhook_replay", where: "true",
		status: "CASE status WHEN 'stopped' THEN 'cancelled' ELSE status END", done: "sent", total: "events",
		href: "'/api/v1/webhooks/' || endpoint_id::text || '/replays/' || id::text",
	},
	{
		kind: "train", table: "score_training", where: "true", status: "status",
		done: "CASE status WHEN 'completed' THEN 1 ELSE 0 END", total: "1", href: "'/api/v1/ai/score-model'",
	},
	{
		kind: "enrollment", table: "enrolment_batch", where: "true", status: "status", done: "done", total: "total",
		href: "'/api/v1/jobs/' || id::text",
	},
	{
		kind: "sequence_move", table: "enrolment_move", where: "true", status: "status", done: "moved", total: "total",
		href: "'/api/v1/sequences/' || sequence_id::text || '/moves/' || id::text",
	},
	{
		kind: "suppression_import", table: "suppression_import", where: "status <> 'uploading'", status: "status",
		done:  "rows_added + rows_unchanged + rows_failed + rows_blank",
		total: "CASE WHEN status <> 'queued' THEN rows_total END", href: "'/api/v1/suppressions/imports/' || id::text",
	},
}

// Filter selects jobs; "" selects all.
type Filter struct{ Kind, Status string }

// listStatement returns the statement for at most limit jobs, newest first, that satisfy a condition on id. $1 is the
// org; limit is a placeholder. Ids are UUIDv7, so the primary key of each table has the order.
func listStatement(f Filter, condition, limit string) string {
	var parts []string
	for _, s := range sources {
		if f.Kind == "" || f.Kind == s.kind {
			parts = append(
				parts,
				fmt.Sprintf(`(SELECT * FROM (SELECT id, '%s' AS kind, %s AS status, (%s)::bigint AS done,
				(%s)::bigint AS total, %s AS href, created_at FROM %s WHERE org_id = $1 AND %s AND %s) AS one
				WHERE ($2 = '' OR status = $2) ORDER BY id DESC LIMIT %s)`,
					s.kind, s.status, s.done, s.total, s.href, s.table, s.where, condition, limit),
			)
		}
	}

	return "SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ") AS every ORDER BY id DESC LIMIT " + limit
}

func scanJob(row pgx.CollectableRow) (j Job, err error) {
	return j, row.Scan(&j.ID, &j.Kind, &j.Status, &j.Done, &j.Total, &j.Href, &j.CreatedAt)
}

// List returns at most limit jobs of tx's org that f selects, newest first, beginning after the job before; nil begins
// at the newest. A kind that has no jobs yet has none.
func List(ctx context.Context, tx *postgres.Tx, f Filter, before *id.ID, limit int) ([]Job, error) {
	if f.Kind != "" && !isKnownKind(f.Kind) {
		return []Job{}, nil
	}

	args := []any{tx.Org(), f.Status, limit}
	condition := "true"
	if before != nil {
		args = append(args, *before)
		condition = "id < $" + strconv.Itoa(len(args))
	}

	rows, err := tx.Query(ctx, listStatement(f, condition, "$3"), args...)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanJob)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}

	return all, nil
}

// Get returns one job of tx's org, or a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (Job, error) {
	rows, err := tx.Query(ctx, listStatement(Filter{}, "id = $3", "1"), tx.Org(), "", i)
	if err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}

	j, err := pgx.CollectExactlyOneRow(rows, scanJob)
	if postgres.None(err) {
		return j, fault.New(fault.NotFound, "There is no such job.")
	}
	if err != nil {
		return j, fmt.Errorf("read job: %w", err)
	}

	return j, nil
}

func isKnownKind(kind string) bool {
	for _, s := range sources {
		if s.kind == kind {
			return true
		}
	}
	return false
}
