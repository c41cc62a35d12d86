package duplicates

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// fewestDigits is how many digits a number has that is compared though it cannot be read.
const fewestDigits = 7

// holder is a contact and the hash of the key of its phone number.
type holder struct {
	hash    uint64
	contact id.ID
}

// searchPhones returns the groups of live contacts with one phone number, oldest first. It holds 24 bytes for each
// contact that has a number.
func searchPhones(ctx context.Context, tx *postgres.Tx) ([][]id.ID, error) {
	rows, err := tx.Query(ctx, `SELECT id, phone, coalesce(country, '') FROM contact
		WHERE org_id = $1 AND archived_at IS NULL AND phone IS NOT NULL ORDER BY created_at, id`, tx.Org())
	if err != nil {
		return nil, err
	}

	var (
		all            []holder
		seed           = maphash.MakeSeed()
		contact        id.ID
		phone, country string
	)
	if _, err := pgx.ForEachRow(rows, []any{&contact, &phone, &country}, func() error {
		if key := phoneKey(phone, country); key != "" {
			all = append(all, holder{maphash.String(seed, key), contact})
		}
		return nil
	}); err != nil {
		return nil, err
	}

	slices.SortStableFunc(all, func(x, y holder) int { return cmp.Compare(x.hash, y.hash) })

	return groupHolders(all), nil
}

// groupHolders returns the contacts that share a hash, of those that are sorted by it.
func groupHolders(all []holder) (groups [][]id.ID) {
	for len(all) > 0 && len(groups) < maxGroups {
		n := 1
		for n < len(all) && all[n].hash == all[0].hash {
			n++
		}
		if n > 1 {
			group := make([]id.ID, 0, min(n, maxMembers))
			for _, h := range all[:min(n, maxMembers)] {
				group = append(group, h.contact)
			}
			groups = append(groups, group)
		}
		all = all[n:]
	}
	slices.SortFunc(groups, func(x, y []id.ID) int { return id.Compare(x[0], y[0]) })
	return groups
}

// phoneKey returns what the spellings of one phone number have in common, or "" if it cannot be compared.
func phoneKey(phone, country string) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, phone)
	if len(digits) < fewestDigits {
		return ""
	}
	if number := contacts.E164(phone, country); number != "" {
		return number
	}
	return strings.TrimPrefix(digits, "00")
}
