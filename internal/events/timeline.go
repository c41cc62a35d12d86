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

// Concerned is an event about contacts. Announce adds it to the timeline of each.
type Concerned interface {
	Event
	// Concerns returns the contacts that the event is about. If it returns none, the event is on no timeline.
	Concerns() []id.ID
}

// brief is an object with a short form for timelines. The short form suffices to show the entry after its event is
// deleted, which happens after 30 days. Other objects are stored whole.
type brief interface{ brief() any }

// subject is an object with an id for the entry. Entries of other objects have no object_id.
type subject interface{ subject() id.ID }

// TimelineEntry is one event of a contact.
type TimelineEntry struct {
	ID       id.ID                     `json:"id" format:"uuid" doc:"The event's id"`
	Type     string                    `json:"type" doc:"The event's type"`
	At       wire.Time                 `json:"at" format:"date-time" doc:"When the event was written"`
	Actor    Actor                     `json:"actor" doc:"Who or what made the change"`
	ObjectID *id.ID                    `json:"object_id" format:"uuid" nullable:"true"`
	Object   map[string]any            `json:"object" doc:"Its main members after the event"`
	Changes  map[string]TimelineChange `json:"changes" nullable:"true"`
}

// Descriptions implements wire.Describer.
func (TimelineEntry) Descriptions() map[string]string {
	return map[string]string{
		"object_id": "The object of the event: the contact, a deal, a note, a task",
		"changes":   "The changes of an update, else null; custom fields are attributes.KEY",
	}
}

// TimelineChange is one changed member of an update. Long texts are truncated.
type TimelineChange struct {
	From any `json:"from" doc:"Value before the change, of any type; null: none"`
	To   any `json:"to" doc:"Value after the change, of any type; null: none"`
}

// timelineSQL is the part of announceEntrySQL that inserts the timeline entries.
const timelineSQL = `, seen AS (
	INSERT INTO timeline (org_id, contact_id, id, type, actor_type, actor_id, object_id, data, at)
	SELECT $1, c, $2, $4, $5, $6, $14, $15, $9 FROM unnest($13::uuid[]) c
)`

// entryOf returns the arguments of timelineSQL: contacts, object_id, data. encoded is the JSON of object. ok is false
// if e is on no timeline.
func entryOf(e Event, object any, encoded []byte, previous any) (args []any, ok bool, err error) {
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
	if b, ok := object.(brief); ok {
		if encoded, err = json.Marshal(b.brief()); err != nil {
			return nil, false, fmt.Errorf("encode entry: %w", err)
		}
	}
	var changes any
	if was, ok := previous.(map[string]any); ok {
		if changes, err = changesOf(object, was); err != nil {
			return nil, false, err
		}
	}
	data, err := withObject(encoded, "changes", changes)
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

// changesOf pairs previous and current values by JSON name. It omits the details of a score.
func changesOf(object any, was map[string]any) (map[string]TimelineChange, error) {
	is, err := membersOf(object)
	if err != nil {
		return nil, err
	}
	before, err := membersOf(was)
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
			out[name] = TimelineChange{From: shortenText(from), To: shortenText(is[name])}
			continue
		}
		for key := range a {
			if !reflect.DeepEqual(a[key], b[key]) {
				out[name+"."+key] = TimelineChange{From: shortenText(a[key]), To: shortenText(b[key])}
			}
		}
		for key := range b {
			if _, known := a[key]; !known {
				out[name+"."+key] = TimelineChange{To: shortenText(b[key])}
			}
		}
	}
	return out, nil
}

// membersOf returns the JSON members of an object.
func membersOf(object any) (out map[string]any, err error) {
	b, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return out, nil
}

// longest is the maximum number of characters of a text in an entry.
const longest = 200

// shortenText returns v, truncated if it is a long text.
func shortenText(v any) any {
	if s, ok := v.(string); ok {
		return excerpt(s)
	}
	return v
}

// excerpt returns at most longest characters of s. A truncated text ends with an ellipsis.
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
	timelineColumns = `SELECT id, type, at, actor_type, actor_id, object_id, data FROM timeline WHERE org_id = $1
		AND contact_id = $2`
	timelineOrder = ` ORDER BY id DESC LIMIT `
)

// Timeline returns at most limit entries of a contact, newest first, starting before the given one if before is not
// nil. If types is not empty, it returns only entries of these types. Several contacts are merged into one timeline,
// with each event once. It does not check that the contacts exist.
func Timeline(ctx context.Context, tx *postgres.Tx, contacts []id.ID, types []string, before *id.ID,
	limit int,
) ([]TimelineEntry, error) {
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

// timelineQuery reads one page per contact from the end of its index range, and returns the newest entries of these
// pages.
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
	return `SELECT DISTINCT ON (t.id) t.* FROM unnest($2::uuid[]) one, LATERAL (` + sql +
		`) AS t ORDER BY t.id DESC LIMIT $3`, args
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

// HeldTimeline returns a contact's whole timeline, oldest first, for a data export.
func HeldTimeline(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]TimelineEntry, error) {
	rows, err := tx.Query(ctx, timelineColumns+` ORDER BY id`, tx.Org(), contact)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	return pgx.CollectRows(rows, scanEntry)
}

// EraseTimeline queues the permanent deletion of a contact's timeline.
func EraseTimeline(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM timeline WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}
