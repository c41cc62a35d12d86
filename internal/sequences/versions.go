package sequences

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// VersionState is a version as the API lists it.
type VersionState struct {
	Version int    `json:"version" doc:"Number of the version, from 1"`
	Status  string `json:"status" enum:"draft,active,retired"`
	Settings
	Steps       []steps.Step `json:"steps" nullable:"false" doc:"The steps, in their order"`
	CreatedAt   wire.Time    `json:"created_at" format:"date-time" doc:"When the version was created"`
	ActivatedAt *wire.Time   `json:"activated_at" format:"date-time" doc:"When it was frozen; null: it is the draft"`
}

// Descriptions implements wire.Describer.
func (VersionState) Descriptions() map[string]string {
	return map[string]string{
		"status": "draft: it can be edited; active: new enrolments get it; retired: an earlier one, which enrolments " +
			"may still have",
	}
}

// Versions returns at most limit versions of a sequence, newest first, with numbers below before; 0: from the newest
// on. Deleted sequences are not found.
func Versions(ctx context.Context, tx *postgres.Tx, sequence id.ID, before, limit int) ([]VersionState, error) {
	r, err := Get(ctx, tx, sequence, false)
	if err != nil {
		return nil, err
	}

	rows, err := tx.Query(ctx, `
		SELECT v.number, v.settings, (SELECT coalesce(json_agg(s.body ORDER BY s.position), '[]') FROM sequence_step s
			WHERE s.org_id = v.org_id AND s.sequence_id = v.sequence_id AND s.version = v.number),
			v.created_at, v.activated_at
		FROM sequence_version v WHERE v.org_id = $1 AND v.sequence_id = $2 AND ($3 = 0 OR v.number < $3)
		ORDER BY v.number DESC LIMIT $4`, tx.Org(), sequence, before, limit)
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}

	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v VersionState, err error) {
		var settings, list []byte
		if err := row.Scan(&v.Version, &settings, &list, &v.CreatedAt, &v.ActivatedAt); err != nil {
			return v, err
		}
		if err := json.Unmarshal(settings, &v.Settings); err != nil {
			return v, err
		}
		v.Status = "retired"
		switch active := r.Value.Version; {
		case v.ActivatedAt == nil:
			v.Status = Draft
		case active != nil && *active == v.Version:
			v.Status = Active
		}
		return v, json.Unmarshal(list, &v.Steps)
	})
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}

	return found, nil
}

// Duplicate creates a sequence with a draft that has the settings and steps of another one. name "": that of the other
// one, marked as a copy.
func Duplicate(ctx context.Context, tx *postgres.Tx, of id.ID, name string) (Row, error) {
	r, err := Get(ctx, tx, of, false)
	if err != nil {
		return Row{}, err
	}

	now := wire.Now()
	first := 1
	s := r.Value
	s.ID = id.New()
	s.Status = Draft
	s.StatusReason = nil
	s.Version = nil
	s.DraftVersion = &first
	s.latest = first
	s.CreatedAt = now
	s.UpdatedAt = now
	if name == "" {
		const suffix = " (copy)"
		short := []rune(s.Name)
		name = string(short[:min(len(short), form.Name-len(suffix))]) + suffix
	}
	f := form.At("")
	f.Required("name", wire.Some(name), &s.Name, form.Name)
	if !f.OK() {
		return Row{}, f.Fault()
	}

	return Row{Value: s, Edit: 1}, insertSequence(tx, &s)
}
