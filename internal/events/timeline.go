package events

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Concerned is an event about contacts: Announce puts it onto the timeline of each.
type Concerned interface {
	Event
	// Concerns are the contacts that the event is about; none, and it is on no timeline.
	Concerns() []id.ID
}

// brief is an object that a timeline keeps in a shorter form: enough to show the entry for ever, since events go
// after 30 days. Any other object is kept whole.
type brief interface{ brief() any }

// subject is an object that an entry is about; any other has no id there.
type subject interface{ subject() id.ID }

// TimelineEntry is one thing that happened to a contact.
type TimelineEntry struct {
	ID       id.ID                     `json:"id" format:"uuid" doc:"The event's id"`
	Type     string                    `json:"type" doc:"The event's type"`
	At       wire.Time                 `json:"at" format:"date-time"`
	Actor    Actor                     `json:"actor"`
	ObjectID *id.ID                    `json:"object_id" format:"uuid" nullable:"true" doc:"What it happened to: the contact, a deal, a note, a task"`
	Object   map[string]any            `json:"object" doc:"Its main members, as they were after it"`
	Changes  map[string]TimelineChange `json:"changes" nullable:"true" doc:"Of an update: what changed; null of anything else. A custom field is attributes.KEY"`
}

// TimelineChange is one member of an update. Long texts are cut.
type TimelineChange struct {
	From any `json:"from"`
	To   any `json:"to"`
}

// kept is an entry's data column.
type kept struct {
	Object  any                       `json:"object"`
	Changes map[string]TimelineChange `json:"changes"`
}

// timelineSQL is the part of announceSQL that an event about contacts has beside it.
const timelineSQL = `, seen AS (
	INSERT INTO timeline (org_id, contact_id, id, type, actor_type, actor_id, object_id, data, at)
	SELECT $1, c, $2, $4, $5, $6, $14, $15, $9 FROM unnest($13::uuid[]) c
)`

// entryOf are the arguments of timelineSQL: contacts, object_id, data. ok is false where e is on no timeline.
func entryOf(e Event, object, previous any) (args []any, ok bool, err error) {
	c, ok := e.(Concerned)
	if !ok {
		return nil, false, nil
	}
	contacts := c.Concerns()
	switch len(contacts) {
	case 0:
		return nil, false, nil
	case 1:
	default:
		contacts = slices.Clone(contacts)
		slices.SortFunc(contacts, func(a, b id.ID) int { return slices.Compare(a[:], b[:]) })
		contacts = slices.Compact(contacts)
	}
	k := kept{Object: object}
	if b, ok := object.(brief); ok {
		k.Object = b.brief()
	}
	if was, ok := previous.(map[string]any); ok {
		if k.Changes, err = changesOf(object, was); err != nil {
			return nil, false, err
		}
	}
	data, err := json.Marshal(k)
	if err != nil {
		return nil, false, fmt.Errorf("encode entry: %w", err)
	}
	var about *id.ID
	if s, ok := object.(subject); ok {
		i := s.subject()
		about = &i
	}
	return []any{contacts, about, data}, true, nil
}

// changesOf pairs what was with what is, by names on the wire. A score's details are left to the score.
func changesOf(object any, was map[string]any) (map[string]TimelineChange, error) {
	is, err := members(object)
	if err != nil {
		return nil, err
	}
	before, err := members(was)
	if err != nil {
		return nil, err
	}
	out := make(map[string]TimelineChange, len(before))
	for name, from := range before {
		switch name {
		case "score", "updated_at":
			continue
		}
		a, isMap := from.(map[string]any)
		b, stillMap := is[name].(map[string]any)
		if !isMap || !stillMap {
			out[name] = TimelineChange{From: shortened(from), To: shortened(is[name])}
			continue
		}
		for key := range a {
			if !reflect.DeepEqual(a[key], b[key]) {
				out[name+"."+key] = TimelineChange{From: shortened(a[key]), To: shortened(b[key])}
			}
		}
		for key := range b {
			if _, known := a[key]; !known {
				out[name+"."+key] = TimelineChange{To: shortened(b[key])}
			}
		}
	}
	return out, nil
}

// members are an object's, as a reader of its JSON has them.
func members(object any) (out map[string]any, err error) {
	b, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return out, nil
}

// longest is how many characters of a text an entry keeps.
const longest = 200

// shortened is v, cut where it is a long text.
func shortened(v any) any {
	if s, ok := v.(string); ok {
		return excerpt(s)
	}
	return v
}

// excerpt is at most longest characters of s, the last of them an ellipsis where s goes on.
func excerpt(s string) string {
	if len(s) <= longest {
		return s
	}
	r := []rune(s)
	if len(r) <= longest {
		return s
	}
	return string(r[:longest-1]) + "…"
}

const (
	timelineColumns = `SELECT id, type, at, actor_type, actor_id, object_id, data FROM timeline WHERE org_id = $1 AND contact_id = $2`
	timelineOrder   = ` ORDER BY id DESC LIMIT `
)

// Timeline answers at most limit entries of a contact, newest first, those older than before if it is given, of the
// named types (none: all). Several contacts are read as one; an event about more than one of them is there once. It does
// not ask whether there are such contacts.
func Timeline(ctx context.Context, tx *postgres.Tx, contacts []id.ID, types []string, before *id.ID, limit int) ([]TimelineEntry, error) {
	sql, args := timelineQuery(tx.Org(), contacts, types, before, limit)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanEntry)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	return all, nil
}

// timelineQuery reads a page of each contact from its end of the index, and of these pages the newest.
func timelineQuery(org id.ID, contacts []id.ID, types []string, before *id.ID, limit int) (string, []any) {
	sql, args := timelineColumns, []any{org, contacts[0], limit}
	if before != nil {
		args = append(args, *before)
		sql += fmt.Sprintf(" AND id < $%d", len(args))
	}
	if len(types) > 0 {
		args = append(args, types)
		sql += fmt.Sprintf(" AND type = ANY ($%d::text[])", len(args))
	}
	sql += timelineOrder + "$3"
	if len(contacts) == 1 {
		return sql, args
	}
	args[1] = contacts
	sql = strings.Replace(sql, "contact_id = $2", "contact_id = one", 1)
	return `SELECT DISTINCT ON (t.id) t.* FROM unnest($2::uuid[]) one, LATERAL (` + sql + `) AS t ORDER BY t.id DESC LIMIT $3`, args
}

func scanEntry(row pgx.CollectableRow) (e TimelineEntry, err error) {
	var (
		actor string
		data  []byte
	)
	if err := row.Scan(&e.ID, &e.Type, &e.At, &e.Actor.Type, &actor, &e.ObjectID, &data); err != nil {
		return e, err
	}
	if actor != "" {
		e.Actor.ID = &actor
	}
	k := struct {
		Object  *map[string]any
		Changes *map[string]TimelineChange
	}{&e.Object, &e.Changes}
	return e, json.Unmarshal(data, &k)
}

// HeldTimeline is a contact's whole timeline, oldest first: what a data export has of it.
func HeldTimeline(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]TimelineEntry, error) {
	rows, err := tx.Query(ctx, timelineColumns+` ORDER BY id`, tx.Org(), contact)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	return pgx.CollectRows(rows, scanEntry)
}

// EraseTimeline queues the erasure of a contact's timeline for good.
func EraseTimeline(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM timeline WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}
