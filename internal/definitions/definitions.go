package definitions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Use is a definition that names something.
type Use struct {
	Kind string `json:"kind" enum:"segment,sequence,broadcast,view,template,deal"`
	ID   string `json:"id" doc:"ID of the definition; of a view its key"`
	Name string `json:"name" doc:"Its name, for people"`
}

// source is a table with definitions. Its statement selects a key of the row, the definition's id and name, and its
// JSON; $1 is the org. ended is a condition that is true for what is only history: it can be renamed but holds
// nothing.
type source struct {
	kind, table, column, key, id, name, from, ended, edited string
}

// sources has every JSON with names. A new one that people can store filters in goes here.
var sources = []source{
	{
		kind: "segment", table: "segment", column: "filter", key: "t.id::text", id: "t.id::text", name: "t.name",
		ended: "t.archived_at IS NOT NULL", edited: "segment",
	},
	{
		kind: "sequence", table: "sequence_version", column: "settings", key: "t.sequence_id::text || ' ' || t.number",
		id: "s.id::text", name: "s.name", from: sequenceOf, ended: "s.archived_at IS NOT NULL", edited: "sequence",
	},
	{
		kind: "sequence", table: "sequence_step", column: "body",
		key: "t.sequence_id::text || ' ' || t.version || ' ' || t.position", id: "s.id::text", name: "s.name",
		from: sequenceOf, ended: "s.archived_at IS NOT NULL", edited: "sequence",
	},
	{
		kind: "broadcast", table: "broadcast", column: "filter", key: "t.id::text", id: "t.id::text", name: "t.name",
		ended: broadcastEnded, edited: "broadcast",
	},
	{
		kind: "broadcast", table: "broadcast", column: "mail", key: "t.id::text", id: "t.id::text", name: "t.name",
		ended: broadcastEnded, edited: "broadcast",
	},
	{
		kind: "view", table: "user_view", column: "value", key: "t.user_id::text || ' ' || t.key", id: "t.key",
		name: "t.key", ended: "FALSE",
	},
}

const (
	sequenceOf     = ` JOIN sequence s ON s.org_id = $1 AND s.id = t.sequence_id`
	broadcastEnded = `(t.archived_at IS NOT NULL OR t.completed_at IS NOT NULL)`
)

// found is a row of a source that names something.
type found struct {
	Use
	key   string
	raw   []byte
	ended bool
}

// read returns the rows of s that name n, with their JSON rewritten.
func (s source) read(ctx context.Context, tx *postgres.Tx, n Name, to func(string) string) ([]found, error) {
	rows, err := tx.Query(ctx, `SELECT `+s.key+`, `+s.id+`, `+s.name+`, t.`+s.column+`::text, `+s.ended+`
		FROM `+s.table+` t`+s.from+` WHERE t.org_id = $1 AND t.`+s.column+` IS NOT NULL ORDER BY 1`, tx.Org())
	if err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
		f.Kind = s.kind
		return f, row.Scan(&f.key, &f.ID, &f.Name, &f.raw, &f.ended)
	})
	if err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}

	var out []found
	for _, f := range all {
		var v any
		in := json.NewDecoder(bytes.NewReader(f.raw))
		in.UseNumber()
		if err := in.Decode(&v); err != nil {
			return nil, fmt.Errorf("decode definition: %w", err)
		}
		v, count := n.rewrite(v, to)
		if count == 0 {
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return nil, fmt.Errorf("encode definition: %w", err)
		}
		f.raw = bytes.TrimSpace(b.Bytes())
		out = append(out, f)
	}
	return out, nil
}

// Uses returns the definitions that name n, each once.
func Uses(ctx context.Context, tx *postgres.Tx, n Name) ([]Use, error) {
	uses := []Use{}
	seen := map[Use]bool{}
	add := func(u Use) {
		if !seen[u] {
			seen[u] = true
			uses = append(uses, u)
		}
	}
	for _, s := range sources {
		all, err := s.read(ctx, tx, n, func(was string) string { return was })
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			if !f.ended {
				add(f.Use)
			}
		}
	}
	if n.Kind != Segment || n.ID == "" {
		return uses, nil
	}

	rows, err := tx.Query(ctx, `SELECT 'broadcast', id::text, name FROM broadcast t WHERE org_id = $1
			AND segment = $2::uuid AND NOT `+broadcastEnded+`
		UNION ALL SELECT 'sequence', id::text, name FROM sequence WHERE org_id = $1 AND enroll_segment = $2::uuid
			AND archived_at IS NULL`, tx.Org(), n.ID)
	if err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}
	more, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Use])
	if err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}
	for _, u := range more {
		add(u)
	}
	return uses, nil
}

// maxShown is the number of definitions that a fault lists.
const maxShown = 50

// CheckUnused returns the fault in_use if a definition names n.
func CheckUnused(ctx context.Context, tx *postgres.Tx, n Name) error {
	uses, err := Uses(ctx, tx, n)
	if err != nil || len(uses) == 0 {
		return err
	}
	return InUse("It is named by "+uses[0].Kind+" "+uses[0].Name+". Change what names it first.", uses)
}

// InUse returns the fault in_use with the first uses.
func InUse(detail string, uses []Use) *fault.Fault {
	f := fault.New(fault.InUse, detail)
	f.More = map[string]any{"used_by": uses[:min(len(uses), maxShown)]}
	return f
}

// Rename makes to the name in every definition that names n. The ETags of the definitions change.
func Rename(ctx context.Context, tx *postgres.Tx, n Name, to string) error {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('segment', hashtextextended($1::uuid::text, 0)))`, tx.Org())
	for _, s := range sources {
		all, err := s.read(ctx, tx, n, func(string) string { return to })
		if err != nil {
			return err
		}
		for _, f := range all {
			tx.Queue(`UPDATE `+s.table+` t SET `+s.column+` = $3 WHERE t.org_id = $1 AND `+s.key+` = $2`,
				tx.Org(), f.key,
				string(f.raw))
			if s.edited != "" {
				tx.Queue(`UPDATE `+s.edited+` SET edit = edit + 1, updated_at = $3 WHERE org_id = $1 AND id = $2::uuid`,
					tx.Org(), f.ID, wire.Now())
			}
		}
	}
	// A run of the job that keeps segments current has read the filters, and begins again.
	tx.Queue(`UPDATE segment_watch SET epoch = epoch + 1 WHERE org_id = $1`, tx.Org())
	return tx.Flush(ctx)
}
