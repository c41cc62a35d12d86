package contacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// TagNamed returns the spelling of a tag that some contact has, live or archived. Another one is a not_found fault.
func TagNamed(ctx context.Context, tx *postgres.Tx, tag string) (name string, err error) {
	spellings, err := TagSpellings(ctx, tx, tag)
	if err != nil {
		return "", err
	}
	used := false
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM contact_tag WHERE org_id = $1 AND tag = ANY ($2::text[]))`,
		[]any{tx.Org(), spellings}, &used)
	switch {
	case err != nil:
		return "", fmt.Errorf("look up tag: %w", err)
	case !used:
		return "", fault.New(fault.NotFound, "No contact has this tag.")
	}
	return spellings[0], nil
}

// TagSpellings returns the spellings of a tag in rows, of which the first is its name.
func TagSpellings(ctx context.Context, tx *postgres.Tx, tag string) ([]string, error) {
	names, err := readFieldNames(ctx, tx, tagName, []string{compare.Text(tag)})
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		return n.spellings, nil
	}
	return []string{tag}, nil
}

// RenameTag makes to the name of the tag from in tx: filters for either find the contacts with either, until SettleTag.
// It returns the name as the org has it, if another spelling of it is a tag. The caller rewrites the contacts.
func RenameTag(ctx context.Context, tx *postgres.Tx, from, to string) (name string, err error) {
	old, now := compare.Text(from), compare.Text(to)
	var rows []vocabularyRow
	tx.Queue(`SELECT FROM vocabulary WHERE org_id = $1 AND kind = 'tag' AND folded = ANY ($2::text[]) FOR UPDATE`,
		tx.Org(), []string{old, now})
	if rows, err = readNames(ctx, tx, []string{tagName}, []string{old, now}); err != nil {
		return "", err
	}

	names := namesOf(rows, tagName)
	spellings := []string{from}
	if n := names[old]; n != nil {
		spellings = append(spellings, n.spellings...)
	}
	if target := names[now]; target != nil && now != old {
		to = target.name
		spellings = append(spellings, target.spellings...)
	}
	spellings = slices.DeleteFunc(slices.Clone(spellings), func(s string) bool { return s == to })
	slices.Sort(spellings)

	tx.Queue(`INSERT INTO vocabulary (org_id, kind, folded, name, former, created_at) VALUES ($1, 'tag', $2, $3, $4, $5)
		ON CONFLICT (org_id, kind, folded) DO UPDATE SET name = excluded.name, former = excluded.former,
			successor = ''`,
		tx.Org(), now, to, slices.Compact(spellings), wire.Now())
	if now != old {
		tx.Queue(`INSERT INTO vocabulary (org_id, kind, folded, name, successor, created_at)
			VALUES ($1, 'tag', $2, $3, $4, $5) ON CONFLICT (org_id, kind, folded) DO UPDATE
			SET successor = excluded.successor, former = '{}'`, tx.Org(), old, from, now, wire.Now())
		tx.Queue(`UPDATE vocabulary SET successor = $3 WHERE org_id = $1 AND kind = 'tag' AND successor = $2
			AND folded <> $3`, tx.Org(), old, now)
	}
	return to, tx.Flush(ctx)
}

// SettleTag ends a change of the spellings of a tag: those that no contact has are forgotten. left reports whether some
// are left, which a request wrote at the same time.
func SettleTag(ctx context.Context, tx *postgres.Tx, tag string) (left bool, err error) {
	folded := compare.Text(tag)
	ByKeys(tx)
	tx.Queue(`UPDATE vocabulary v SET former = ARRAY(SELECT s FROM unnest(v.former) AS s
			WHERE EXISTS (SELECT FROM contact_tag t WHERE t.org_id = $1 AND t.tag = s))
		WHERE v.org_id = $1 AND v.kind = 'tag' AND v.folded = $2 AND v.former <> '{}'`, tx.Org(), folded)
	tx.Queue(`DELETE FROM vocabulary v WHERE v.org_id = $1 AND v.kind = 'tag' AND v.successor = $2
		AND EXISTS (SELECT FROM vocabulary n WHERE n.org_id = $1 AND n.kind = 'tag' AND n.folded = $2
			AND v.name <> ALL (n.former))`, tx.Org(), folded)
	tx.Queue(`DELETE FROM vocabulary v WHERE v.org_id = $1 AND v.kind = 'tag' AND v.folded = $2 AND v.successor = ''
		AND v.former = '{}' AND NOT EXISTS (SELECT FROM contact_tag t WHERE t.org_id = $1 AND t.tag = v.name)
		AND NOT EXISTS (SELECT FROM vocabulary a WHERE a.org_id = $1 AND a.kind = 'tag' AND a.successor = $2)`,
		tx.Org(), folded)
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM vocabulary WHERE org_id = $1 AND kind = 'tag' AND folded = $2
		AND former <> '{}')`, []any{tx.Org(), folded}, &left)
	if err != nil {
		return false, fmt.Errorf("settle tag: %w", err)
	}
	return left, nil
}

// KeepStages queues that stages of the org's list are names of their own again, if they were renamed before.
func KeepStages(tx *postgres.Tx, stages []string) {
	tx.Queue(`UPDATE vocabulary SET successor = '', former = '{}' WHERE org_id = $1 AND kind = 'stage'
		AND folded = ANY ($2::text[])`, tx.Org(), foldAll(stages))
}

// RenameStage makes to the name of the stage from: filters for either find the contacts with either. The caller
// rewrites the contacts.
func RenameStage(ctx context.Context, tx *postgres.Tx, from, to string) error {
	old, now := compare.Text(from), compare.Text(to)
	tx.Queue(`INSERT INTO vocabulary (org_id, kind, folded, name, former, created_at)
		VALUES ($1, 'stage', $2, $3, ARRAY[$4::text], $5) ON CONFLICT (org_id, kind, folded) DO UPDATE
		SET name = excluded.name, successor = '',
			former = array_remove(vocabulary.former || vocabulary.name || excluded.former,
				excluded.name)`, tx.Org(), now,
		to, from, wire.Now())
	if now != old {
		tx.Queue(`WITH renamed AS (INSERT INTO vocabulary (org_id, kind, folded, name, successor, created_at)
				VALUES ($1, 'stage', $2, $3, $4, $5) ON CONFLICT (org_id, kind, folded) DO UPDATE
				SET successor = excluded.successor)
			UPDATE vocabulary n SET former = n.former || o.former FROM vocabulary o WHERE n.org_id = $1
			AND n.kind = 'stage' AND n.folded = $4 AND o.org_id = $1 AND o.kind = 'stage' AND o.folded =
				$2`, tx.Org(), old,
			from, now, wire.Now())
		tx.Queue(`UPDATE vocabulary SET successor = $3 WHERE org_id = $1 AND kind = 'stage' AND successor = $2
			AND folded <> $3`, tx.Org(), old, now)
	}
	return tx.Flush(ctx)
}
