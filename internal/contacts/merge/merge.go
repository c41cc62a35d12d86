package merge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kept is how long a merge can be undone.
const Kept = 30 * 24 * time.Hour

// MaxLosers is the maximum number of contacts that one merge may merge into the survivor.
const MaxLosers = 50

// Noun is a kind of record that belongs to contacts and is reassigned by a merge.
type Noun struct {
	Name string
	// Repoint moves the records of the contacts from to the contact to. It returns the data that Return needs.
	Repoint func(ctx context.Context, tx *postgres.Tx, from []id.ID, to id.ID) (moved json.RawMessage, err error)
	// Return undoes Repoint for records that still belong to the contact that Repoint gave them to.
	Return func(ctx context.Context, tx *postgres.Tx, moved json.RawMessage) error
}

// Merge is one merge of contacts.
type Merge struct {
	ID         id.ID      `json:"id" format:"uuid" doc:"ID of the merge; undo takes it"`
	SurvivorID id.ID      `json:"survivor_id" format:"uuid" doc:"The contact that was kept"`
	LoserIDs   []id.ID    `json:"loser_ids" doc:"In the given order, without contacts erased since"`
	CreatedAt  wire.Time  `json:"created_at" format:"date-time" doc:"When the contacts were merged"`
	UndoUntil  *wire.Time `json:"undo_until" format:"date-time" doc:"End of the undo period; null: cannot be undone"`
	UndoneAt   *wire.Time `json:"undone_at" format:"date-time" doc:"When the merge was undone; null: it was not"`
}

// state holds the fields of a survivor that a merge may change, as a contact without its other fields; segments are the
// static ones.
type state struct {
	contacts.Contact
	Edit int `json:"edit"`
}

func stateOf(r *contacts.Row, c *contacts.Contact, edit int) state {
	s := state{
		Contact: contacts.Contact{
			CompanyID: c.CompanyID, OwnerID: c.OwnerID, Tag: c.Tag, Segment: r.StaticOf(c.Segment),
			Attributes: c.Attributes, ExternalIDs: c.ExternalIDs, UpdatedAt: c.UpdatedAt,
		},
		Edit: edit,
	}
	for _, t := range contacts.Texts() {
		*t.Of(&s.Contact) = *t.Of(c)
	}
	return s
}

// undo holds the data for an undo.
type undo struct {
	Before state                      `json:"before"` // of the survivor
	After  state                      `json:"after"`
	Losers map[id.ID]archived         `json:"losers"`
	Moved  map[string]json.RawMessage `json:"moved"` // by noun
}

// archived holds a loser's updated_at before the merge and its edit after it.
type archived struct {
	UpdatedAt wire.Time `json:"updated_at"`
	Edit      int       `json:"edit"`
}

// Result is the result of a merge or an undo. Changed lists the contacts that may need rescoring.
type Result struct {
	Merge    Merge
	Survivor contacts.Row
	Changed  []contacts.Change
}

// Do merges the losers into the survivor; all of them must be live. It announces contact.merged, which is the only
// event of the losers, and contact.updated if the survivor changed. A contact that does not exist is a not_found fault.
func Do(ctx context.Context, tx *postgres.Tx, survivor id.ID, loserIDs []id.ID, rate contacts.Scorer,
	nouns []Noun,
) (Result, error) {
	if err := checked(survivor, loserIDs); err != nil {
		return Result{}, err
	}
	rows, err := contacts.LockAll(ctx, tx, append([]id.ID{survivor}, loserIDs...), contacts.Live)
	if err != nil {
		return Result{}, err
	}
	s, losers, err := split(rows, survivor, loserIDs)
	if err != nil {
		return Result{}, err
	}
	c := folded(s, losers)
	if len(c.Tag) > contacts.MaxTags {
		return Result{},
			fault.Invalid("loser_ids", "too_many_tags",
				"Together they have more than "+strconv.Itoa(contacts.MaxTags)+" tags. Take some off first.")
	}
	m := Merge{ID: id.New(), SurvivorID: survivor, LoserIDs: loserIDs, CreatedAt: wire.Now()}
	until := wire.At(m.CreatedAt.Add(Kept))
	m.UndoUntil = &until
	out := Result{Merge: m, Survivor: *s}
	releaseLosers(tx, losers, &c)
	changed, err := contacts.Put(tx, []contacts.Row{*s}, []contacts.Contact{c}, rate)
	if err != nil {
		return Result{}, err
	}
	u := undo{Before: stateOf(s, &s.Contact, s.Edit), Losers: map[id.ID]archived{}, Moved: map[string]json.RawMessage{}}
	for i := range changed {
		out.Survivor = changed[i].Row
		out.Changed = append(out.Changed, changed[i])
	}
	u.After = stateOf(s, &out.Survivor.Contact, out.Survivor.Edit)
	away := make([]contacts.Row, len(losers))
	for i, l := range losers {
		away[i] = *l
		u.Losers[l.ID] = archived{l.UpdatedAt, l.Edit + 1}
	}
	contacts.ArchiveRows(tx, away, m.CreatedAt)
	for _, n := range nouns {
		if u.Moved[n.Name], err = n.Repoint(ctx, tx, loserIDs, survivor); err != nil {
			return Result{}, fmt.Errorf("reassign %s: %w", n.Name, err)
		}
	}
	body, err := json.Marshal(u)
	if err != nil {
		return Result{}, fmt.Errorf("encode merge: %w", err)
	}
	tx.Queue(`INSERT INTO contact_merge (org_id, id, survivor_id, loser_ids, undo, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, tx.Org(), m.ID, survivor, loserIDs, string(body), m.CreatedAt)
	tx.Queue(`INSERT INTO contact_merged (org_id, survivor_id, contact_id, merge_id) SELECT $1, $2, l, $4
		FROM unnest($3::uuid[]) l
		ON CONFLICT (org_id, survivor_id, contact_id) DO UPDATE SET merge_id = excluded.merge_id`, tx.Org(), survivor,
		loserIDs, m.ID)
	if err := events.Announce(ctx, tx,
		events.ContactMerged{Merge: events.Merge{ID: survivor, LoserIDs: loserIDs}}); err != nil {
		return Result{}, err
	}
	if err := states.Archived(ctx, tx, loserIDs, "contact_merged"); err != nil {
		return Result{}, err
	}
	return out, contacts.AnnounceAll(ctx, tx, changed)
}

// releaseLosers queues the release of the losers' external ids that the survivor takes over. The losers keep theirs in
// their rows, for an undo.
func releaseLosers(tx *postgres.Tx, losers []*contacts.Row, survivor *contacts.Contact) {
	var records []id.ID
	var keys []externalid.Key
	for _, l := range losers {
		for _, k := range l.ExternalIDs.Keys() {
			if survivor.ExternalIDs[k.System] == k.Value {
				records = append(records, l.ID)
				keys = append(keys, k)
			}
		}
	}
	externalid.Releases(tx, externalid.Contact, records, keys)
}

func checked(survivor id.ID, losers []id.ID) error {
	switch {
	case len(losers) == 0:
		return fault.Invalid("loser_ids", "required", "Say which contacts are folded in.")
	case len(losers) > MaxLosers:
		return fault.Invalid("loser_ids", "too_many", "At most "+strconv.Itoa(MaxLosers)+" contacts are allowed.")
	}
	for i, l := range losers {
		at := "loser_ids/" + strconv.Itoa(i)
		if l == survivor {
			return fault.Invalid(at, "survivor", "A contact cannot be folded into itself.")
		}
		if slices.Contains(losers[:i], l) {
			return fault.Invalid(at, "repeated", "This contact is named before.")
		}
	}
	return nil
}

// split returns the survivor and the losers among rows, the losers in the given order.
func split(rows []contacts.Row, survivor id.ID, losers []id.ID) (s *contacts.Row, l []*contacts.Row, err error) {
	byID := make(map[id.ID]*contacts.Row, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	if s = byID[survivor]; s == nil {
		return nil, nil, fault.New(fault.NotFound, "There is no such contact.")
	}
	for i, one := range losers {
		row := byID[one]
		if row == nil {
			return nil, nil,
				&fault.Fault{
					Code: fault.NotFound, Detail: "A contact to be merged does not exist.",
					Fields: []fault.FieldError{{
						Pointer: "#/loser_ids/" + strconv.Itoa(i), Code: "not_found",
						Detail: "There is no such contact.",
					}},
				}
		}
		l = append(l, row)
	}
	return s, l, nil
}

const columns = `id, survivor_id, loser_ids, created_at, undone_at, undo IS NOT NULL`

func scan(row pgx.CollectableRow) (m Merge, err error) {
	var open bool
	err = row.Scan(&m.ID, &m.SurvivorID, &m.LoserIDs, &m.CreatedAt, &m.UndoneAt, &open)
	if until := wire.At(m.CreatedAt.Add(Kept)); open && time.Now().Before(until.Time) {
		m.UndoUntil = &until
	}
	return m, err
}

// Get returns one merge. An unknown id is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (Merge, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM contact_merge WHERE org_id = $1 AND id = $2`, tx.Org(), i)
	if err != nil {
		return Merge{}, fmt.Errorf("read merge: %w", err)
	}
	m, err := pgx.CollectExactlyOneRow(rows, scan)
	if postgres.None(err) {
		return m, fault.New(fault.NotFound, "There is no such merge.")
	}
	return m, err
}

// List returns at most limit merges, newest first, starting before the given one, or with the newest if before is nil.
// If survivor is not nil, it returns only merges of that survivor.
func List(ctx context.Context, tx *postgres.Tx, survivor, before *id.ID, limit int) ([]Merge, error) {
	from := id.Floor(time.Now().AddDate(1, 0, 0))
	if before != nil {
		from = *before
	}
	sql, args := `SELECT `+columns+` FROM contact_merge WHERE org_id = $1 AND id < $2`, []any{tx.Org(), from, limit}
	if survivor != nil {
		sql, args = sql+` AND survivor_id = $4`, append(args, *survivor)
	}
	rows, err := tx.Query(ctx, sql+` ORDER BY id DESC LIMIT $3`, args...)
	if err != nil {
		return nil, fmt.Errorf("list merges: %w", err)
	}
	all, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("list merges: %w", err)
	}
	return all, nil
}

// Count returns the number of merges that List can return.
func Count(ctx context.Context, tx *postgres.Tx, survivor *id.ID) (n int64, err error) {
	err = tx.QueryRow(ctx,
		`SELECT count(*) FROM contact_merge WHERE org_id = $1 AND ($2::uuid IS NULL OR survivor_id = $2)`,
		[]any{tx.Org(), survivor}, &n)
	if err != nil {
		return 0, fmt.Errorf("count merges: %w", err)
	}
	return n, nil
}

// Within returns the contacts that are currently merged into i, directly or through another contact, without i itself.
func Within(ctx context.Context, tx *postgres.Tx, i id.ID) ([]id.ID, error) {
	rows, err := tx.Query(ctx, `
		WITH RECURSIVE f AS (
			SELECT contact_id FROM contact_merged WHERE org_id = $1 AND survivor_id = $2
			UNION SELECT m.contact_id FROM f JOIN contact_merged m ON m.org_id = $1 AND m.survivor_id = f.contact_id
		) SELECT contact_id FROM f WHERE contact_id <> $2`, tx.Org(), i)
	if err != nil {
		return nil, fmt.Errorf("read merged contacts: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("read merged contacts: %w", err)
	}
	return all, nil
}

// Of returns the merges in which a contact was the survivor or a loser, oldest first.
func Of(ctx context.Context, tx *postgres.Tx, i id.ID) ([]Merge, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+columns+
			` FROM contact_merge WHERE org_id = $1 AND (survivor_id = $2 OR $2 = ANY (loser_ids)) ORDER BY id`,
		tx.Org(), i)
	if err != nil {
		return nil, fmt.Errorf("read merges: %w", err)
	}
	all, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("read merges: %w", err)
	}
	return all, nil
}
