package suppression

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// AddAll suppresses addresses and domains for the org of tx with one statement, and returns how many of all are new:
// the others were in force with the same purpose, or are repeated in all. It holds the locks of their hashes until tx
// ends, so all should be a batch of at most a thousand. The caller has checked them.
func (s *Service) AddAll(ctx context.Context, tx *postgres.Tx, all []New) (added int, err error) {
	if len(all) == 0 {
		return 0, nil
	}

	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return 0, err
	}

	type entry struct {
		New
		kind, shown string
		hash        []byte
	}
	entries := make([]entry, len(all))
	locks := make([]int64, len(all))
	for i, n := range all {
		e := entry{New: n}
		e.kind, e.shown, e.hash = hashKey(pair.Org, n)
		entries[i], locks[i] = e, lockOf(tx.Org(), e.hash)
	}
	// Ascending, as Guard takes them and as two imports must insert the rows, so that they cannot deadlock.
	slices.Sort(locks)
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(bytes.Compare(a.hash, b.hash), cmp.Compare(a.Purpose, b.Purpose))
	})
	var (
		ids                                                              []id.ID
		kinds, addresses, purposes, reasons, sources, notes, suppressers []string
		hashes                                                           [][]byte
	)
	for _, e := range entries {
		ids, kinds, hashes = append(ids, id.New()), append(kinds, e.kind), append(hashes, e.hash)
		addresses, purposes = append(addresses, e.shown), append(purposes, e.Purpose)
		reasons, sources = append(reasons, e.Reason), append(sources, e.Source)
		notes, suppressers = append(notes, e.Note), append(suppressers, e.By)
	}

	tx.Queue(`SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) AS k`, slices.Compact(locks))
	rows, err := tx.Query(ctx, `
		INSERT INTO suppression (org_id, id, kind, hash, address, purpose, reason, source, note, created_at, created_by)
		SELECT $1, u.id, u.kind, u.hash, u.address, u.purpose, u.reason, u.source, u.note, $2, u.by
		FROM unnest($3::uuid[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
			$11::text[]) AS u (id, kind, hash, address, purpose, reason, source, note, by)
		ON CONFLICT (org_id, hash, purpose) WHERE lifted_at IS NULL DO NOTHING
		RETURNING 1`, tx.Org(), wire.Now(), ids, kinds, hashes, addresses, purposes, reasons, sources, notes,
		suppressers)
	if err != nil {
		return 0, fmt.Errorf("add suppressions: %w", err)
	}

	_, err = pgx.CollectRows(rows, func(pgx.CollectableRow) (struct{}, error) {
		added++
		return struct{}{}, nil
	})
	if err != nil {
		return 0, fmt.Errorf("add suppressions: %w", err)
	}

	return added, endEnrolments(ctx, tx, all)
}

// endEnrolments ends the enrolments of the contacts that are suppressed.
func endEnrolments(ctx context.Context, tx *postgres.Tx, all []New) error {
	for _, reason := range Reasons() {
		var addresses, domains []string
		for _, n := range all {
			switch {
			case n.Reason != reason:
			case n.Domain != "":
				domains = append(domains, compare.Domain(n.Domain))
			default:
				addresses = append(addresses, compare.Address(n.Email))
			}
		}
		if err := states.Suppressed(ctx, tx, addresses, reason); err != nil {
			return err
		}
		if err := states.SuppressedDomains(ctx, tx, domains, reason); err != nil {
			return err
		}
	}

	return nil
}
