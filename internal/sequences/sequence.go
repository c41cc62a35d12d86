package sequences

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Statuses of a sequence.
const (
	Draft    = "draft"
	Active   = "active"
	Paused   = "paused"
	Archived = "archived"
)

// Sequence is a sequence with its draft, or with its active version if it has no draft.
type Sequence struct {
	ID           id.ID   `json:"id" format:"uuid" doc:"ID of the sequence"`
	Name         string  `json:"name" doc:"Display name, 1 to 200 characters"`
	Status       string  `json:"status" enum:"draft,active,paused,archived"`
	StatusReason *string `json:"status_reason" doc:"Why it is paused, or what its mailboxes wait for; null: nothing"`
	Version      *int    `json:"version" doc:"Number of the active version; null: it was never activated"`
	DraftVersion *int    `json:"draft_version" doc:"Number of the version that is edited; null: there is none"`
	Settings
	Steps      []steps.Step `json:"steps" nullable:"false" doc:"The steps, in their order"`
	CreatedAt  wire.Time    `json:"created_at" format:"date-time" doc:"When the sequence was created"`
	UpdatedAt  wire.Time    `json:"updated_at" format:"date-time" doc:"When the sequence was last edited"`
	ArchivedAt *wire.Time   `json:"archived_at" format:"date-time" doc:"When it was deleted; null: it is listed"`

	latest int // highest number of a version
}

// Descriptions implements wire.Describer.
func (Sequence) Descriptions() map[string]string {
	return map[string]string{
		"status": "draft: never activated; active: contacts are enrolled and enrolments go on; paused: they wait; " +
			"archived: ended for good",
	}
}

// Row is a sequence with its edit counter.
type Row = record.Row[Sequence]

// Change is the result of a change to a sequence.
type Change = record.Change[Sequence]

const absent = "There is no such sequence."

var table = record.Table[Sequence]{
	Name: "sequence", Absent: absent,
	Columns: `id, name, status, nullif(status_reason, ''), version, draft, latest, created_at, updated_at, archived_at,
		(SELECT v.settings FROM sequence_version v WHERE v.org_id = sequence.org_id AND v.sequence_id = sequence.id
			AND v.number = coalesce(sequence.draft, sequence.version)),
		(SELECT coalesce(json_agg(s.body ORDER BY s.position), '[]') FROM sequence_step s
			WHERE s.org_id = sequence.org_id AND s.sequence_id = sequence.id
			AND s.version = coalesce(sequence.draft, sequence.version))`,
	Scan: func(s *Sequence) []any {
		return []any{
			&s.ID, &s.Name, &s.Status, &s.StatusReason, &s.Version, &s.DraftVersion, &s.latest, &s.CreatedAt,
			&s.UpdatedAt, &s.ArchivedAt, &s.Settings, &s.Steps,
		}
	},
	Stamps: func(s *Sequence) (*wire.Time, **wire.Time) { return &s.UpdatedAt, &s.ArchivedAt },
}

// Get returns one sequence of the org. A deleted one is returned only with deletedToo. If there is no such sequence,
// the error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID, deletedToo bool) (Row, error) {
	return table.Get(ctx, tx, i, deletedToo)
}

// queueLock queues locking the row of a sequence. The next statement sees what the transactions before have committed,
// also in the tables of versions and steps.
func queueLock(tx *postgres.Tx, i id.ID) {
	tx.Queue(`SELECT FROM sequence WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org(), i)
}

// readLocked is Get with the row locked until the transaction ends.
func readLocked(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, error) {
	queueLock(tx, i)
	return table.Get(ctx, tx, i, false)
}

// State is what enrolments need to know of a sequence.
type State struct {
	ID      id.ID
	Name    string
	Status  string
	Version int // the active one; 0: it was never activated
}

// StateOf returns the state of a sequence, deleted ones included, and keeps it from changing until tx ends. If there is
// no such sequence, the error is a not_found fault.
func StateOf(ctx context.Context, tx *postgres.Tx, sequence id.ID) (State, error) {
	s := State{ID: sequence}
	err := tx.QueryRow(ctx, `SELECT name, status, coalesce(version, 0) FROM sequence
		WHERE org_id = $1 AND id = $2 FOR SHARE`, []any{tx.Org(), sequence}, &s.Name, &s.Status, &s.Version)
	if postgres.None(err) {
		return s, fault.New(fault.NotFound, absent)
	}
	if err != nil {
		return s, fmt.Errorf("read sequence: %w", err)
	}
	return s, nil
}

// Version is one version of a sequence.
type Version struct {
	Sequence id.ID
	Number   int
	Name     string // of the sequence
	Frozen   bool   // it was activated
	Settings
	Steps []steps.Step
}

// Load returns a version of a sequence. Once the version is frozen, all but the name stay as they are. If there is no
// such version, the error is a not_found fault.
func Load(ctx context.Context, tx *postgres.Tx, sequence id.ID, number int) (*Version, error) {
	v := &Version{Sequence: sequence, Number: number}
	var settings, list []byte
	err := tx.QueryRow(ctx, `
		SELECT q.name, v.activated_at IS NOT NULL, v.settings,
			(SELECT coalesce(json_agg(s.body ORDER BY s.position), '[]') FROM sequence_step s
			WHERE s.org_id = v.org_id AND s.sequence_id = v.sequence_id AND s.version = v.number)
		FROM sequence_version v JOIN sequence q ON q.org_id = v.org_id AND q.id = v.sequence_id
		WHERE v.org_id = $1 AND v.sequence_id = $2 AND v.number = $3`, []any{tx.Org(), sequence, number},
		&v.Name, &v.Frozen, &settings, &list)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, "The sequence has no such version.")
	}
	if err == nil {
		err = json.Unmarshal(settings, &v.Settings)
	}
	if err == nil {
		err = json.Unmarshal(list, &v.Steps)
	}
	if err != nil {
		return nil, fmt.Errorf("read version of sequence: %w", err)
	}

	return v, nil
}
