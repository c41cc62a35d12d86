// Package duplicates finds contacts that may be the same person. It only proposes candidates: a user decides by merging
// them.
//
// # Three reasons
//
// email: the addresses belong to one mailbox; a plus and the text after it are ignored, and at Gmail dots are ignored,
// too. name_company: both names are equal, and the contacts belong to one company. phone: the numbers are one in
// the form of E.164, however they are written; one without a plus is read as dialled in the contact's country. Of a
// number that cannot be read, the digits are compared, of which it has at least seven.
//
// # Why a search and not a list
//
// Writes of contacts should not pay for keys that may never be read, and grouping a million contacts takes seconds.
// Therefore a caller requests a search, and a job reads all live contacts of the org once. The list shows the results
// without contacts that have been archived or purged since.
package duplicates

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Limits of a search.
const (
	maxGroups  = 10_000 // per reason
	maxMembers = 50     // per group, the limit of a merge
)

// reasons lists, in display order, the key expression that duplicates share. It is NULL for contacts without such a
// key. The keys of phone are computed by Search.
var reasons = []struct{ name, key string }{
	{"email", `CASE WHEN split_part(split_part(email_folded, '@', 2), ' ', 1) IN ('gmail.com', 'googlemail.com')
		THEN replace(split_part(split_part(email_folded, '@', 1), '+', 1), '.', '') || '@gmail.com'
		ELSE split_part(split_part(email_folded, '@', 1), '+', 1) || '@' ||
			split_part(split_part(email_folded, '@', 2), ' ', 1) END`},
	{
		"name_company",
		`CASE WHEN company_id IS NOT NULL THEN first_name_folded || E'\n' || last_name_folded || E'\n' ||
			company_id END`,
	},
	{"phone", ""},
}

// Found holds groups of contacts by reason.
type Found map[string][][]id.ID

// byOrg lets Search read the contacts of its org alone: a scan of the table reads those of all orgs.
const byOrg = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`

// Search reads all live contacts of the org. It takes seconds for a million contacts and belongs in a ReadTx.
func Search(ctx context.Context, tx *postgres.Tx) (Found, error) {
	out := Found{}
	for _, r := range reasons {
		tx.Queue(byOrg) // each query of a ReadTx has a transaction of its own
		if r.key == "" {
			groups, err := searchPhones(ctx, tx)
			if err != nil {
				return nil, fmt.Errorf("search by %s: %w", r.name, err)
			}
			out[r.name] = groups
			continue
		}
		rows, err := tx.Query(ctx, `SELECT (array_agg(id ORDER BY created_at, id))[1:$2] FROM (
				SELECT id, created_at, `+r.key+` AS k FROM contact WHERE org_id = $1 AND archived_at IS NULL) c
			WHERE k IS NOT NULL GROUP BY k HAVING count(*) > 1 ORDER BY k COLLATE "C" LIMIT $3`, tx.Org(), maxMembers,
			maxGroups)
		if err != nil {
			return nil, fmt.Errorf("search by %s: %w", r.name, err)
		}
		if out[r.name], err = pgx.CollectRows(rows, pgx.RowTo[[]id.ID]); err != nil {
			return nil, fmt.Errorf("search by %s: %w", r.name, err)
		}
	}
	return out, nil
}

// Ask records that a search was requested.
func Ask(tx *postgres.Tx) {
	tx.Queue(`INSERT INTO contact_duplicate_search (org_id, asked_at) VALUES ($1, $2) ON CONFLICT (org_id) DO
		UPDATE SET asked_at = excluded.asked_at`, tx.Org(), wire.Now())
}

// Save replaces the results of the previous search.
func (f Found) Save(tx *postgres.Tx) {
	tx.Queue(`DELETE FROM contact_duplicate WHERE org_id = $1`, tx.Org())
	for _, r := range reasons {
		for first, part := range slices.Collect(slices.Chunk(f[r.name], 500)) {
			var (
				ns  []int
				ids []id.ID
			)
			for i, group := range part {
				for _, c := range group {
					ns, ids = append(ns, first*500+i), append(ids, c)
				}
			}
			tx.Queue(`INSERT INTO contact_duplicate (org_id, reason, n, contact_ids)
				SELECT $1, $2, n, array_agg(c ORDER BY place)
				FROM unnest($3::int[], $4::uuid[]) WITH ORDINALITY AS g (n, c, place) GROUP BY n`, tx.Org(), r.name,
				ns, ids)
		}
	}
	tx.Queue(`INSERT INTO contact_duplicate_search (org_id, asked_at, completed_at) VALUES ($1, $2, $2)
		ON CONFLICT (org_id) DO UPDATE SET completed_at = excluded.completed_at`, tx.Org(), wire.Now())
}

// Candidate is one contact of a group.
type Candidate struct {
	ID        id.ID     `json:"id" format:"uuid" doc:"ID of the contact"`
	Email     string    `json:"email" doc:"Email address of the contact"`
	FirstName string    `json:"first_name" doc:"First name of the contact"`
	LastName  string    `json:"last_name" doc:"Last name of the contact"`
	Phone     *string   `json:"phone" doc:"Phone number of the contact; null: none"`
	CompanyID *id.ID    `json:"company_id" format:"uuid" nullable:"true" doc:"Company of the contact; null: none"`
	CreatedAt wire.Time `json:"created_at" format:"date-time" doc:"When the contact was created"`
}

// Group is a set of contacts that may be one person, oldest first.
type Group struct {
	Reason   string      `json:"reason" enum:"email,name_company,phone"`
	Contacts []Candidate `json:"contacts" doc:"Contacts that may be one person, oldest first"`
	place    Place
}

// Descriptions implements wire.Describer.
func (Group) Descriptions() map[string]string {
	return map[string]string{
		"reason": "What the contacts have in common: the address, name and company, or the phone number",
	}
}

// Place is the position of a group in the list.
type Place struct {
	Reason string `json:"r"`
	N      int    `json:"n"`
}

// Place returns the position of g.
func (g *Group) Place() Place { return g.place }

// List returns at most limit groups of a reason, or of all reasons for "", after a position. Groups with fewer than two
// remaining contacts are omitted, so a page may be shorter than limit. next is the position to continue from, or nil at
// the end.
func List(ctx context.Context, tx *postgres.Tx, reason string, after *Place, limit int) (groups []Group, next *Place,
	err error,
) {
	from := Place{N: -1}
	if after != nil {
		from = *after
	}
	rows, err := tx.Query(ctx,
		`SELECT d.reason, d.n, c.id, c.email, c.first_name, c.last_name, c.phone, c.company_id, c.created_at
		FROM (SELECT * FROM contact_duplicate WHERE org_id = $1 AND ($2 = '' OR reason = $2)
		AND (reason, n) > ($3, $4) ORDER BY reason, n LIMIT $5) d
		LEFT JOIN LATERAL (SELECT c.* FROM unnest(d.contact_ids) AS one (id) CROSS JOIN LATERAL (
			SELECT * FROM contact WHERE org_id = $1 AND id = one.id AND archived_at IS NULL LIMIT 1) AS c) AS c ON true
		ORDER BY d.reason, d.n, c.created_at, c.id`, tx.Org(), reason, from.Reason, from.N, limit+1)
	if err != nil {
		return nil, nil, fmt.Errorf("list duplicates: %w", err)
	}
	var (
		at  Place
		one struct {
			id                     *id.ID
			email, first, last, ph *string
			company                *id.ID
			created                *wire.Time
		}
	)
	_, err = pgx.ForEachRow(rows,
		[]any{&at.Reason, &at.N, &one.id, &one.email, &one.first, &one.last, &one.ph, &one.company, &one.created},
		func() error {
			if len(groups) == 0 || groups[len(groups)-1].place != at {
				groups = append(groups, Group{Reason: at.Reason, Contacts: []Candidate{}, place: at})
			}
			if one.id != nil {
				g := &groups[len(groups)-1]
				g.Contacts = append(g.Contacts,
					Candidate{*one.id, *one.email, *one.first, *one.last, one.ph, one.company, *one.created})
			}
			return nil
		})
	if err != nil {
		return nil, nil, fmt.Errorf("list duplicates: %w", err)
	}
	if len(groups) > limit {
		last := groups[limit-1].place
		groups, next = groups[:limit], &last
	}
	return slices.DeleteFunc(groups, func(g Group) bool { return len(g.Contacts) < 2 }), next, nil
}

// Searched returns when the last search was requested and when the last completed search ended, or nil for never.
func Searched(ctx context.Context, tx *postgres.Tx) (asked, completed *wire.Time, err error) {
	err = tx.QueryRow(ctx, `SELECT asked_at, completed_at FROM contact_duplicate_search WHERE org_id = $1`,
		[]any{tx.Org()}, &asked, &completed)
	if err != nil && !postgres.None(err) {
		return nil, nil, fmt.Errorf("read search: %w", err)
	}
	return asked, completed, nil
}

// Erase queues the removal of a contact from the search results.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`UPDATE contact_duplicate SET contact_ids = array_remove(contact_ids, $2) WHERE org_id = $1
		AND $2 = ANY (contact_ids)`, tx.Org(), contact)
}
