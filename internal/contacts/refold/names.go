package refold

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// foldDefinitions folds the keys of custom fields and of segments. Of keys that are one the oldest has the form; the
// others keep their own, and are found by it.
func (r *Refolder) foldDefinitions(ctx context.Context, tx *postgres.Tx, at *place) error {
	for table, live := range map[string]string{"contact_field": "archived_at IS NULL", "segment": "TRUE"} {
		keys, err := readTexts(ctx, tx, `SELECT key FROM `+table+` WHERE org_id = $1 AND `+live+`
			ORDER BY folded IS NULL, created_at, key FOR UPDATE`, tx.Org())
		if err != nil {
			return err
		}
		taken := map[string]bool{}
		for _, key := range keys {
			folded := compare.Text(key)
			if taken[folded] {
				continue
			}
			taken[folded] = true
			tx.Queue(`UPDATE `+table+` SET folded = $3 WHERE org_id = $1 AND key = $2 AND folded IS NULL AND `+live,
				tx.Org(), key, folded)
		}
	}
	at.ended = true
	return tx.Flush(ctx)
}

// foldTags lists the tags of contacts in the vocabulary. Tags that are one get the spelling that was used first, and a
// bulk change rewrites the contacts with others.
func (r *Refolder) foldTags(ctx context.Context, tx *postgres.Tx, at *place) error {
	contacts.Planned(tx)
	tags, err := readTexts(ctx, tx, contacts.AllTagsSQL, tx.Org(), "")
	if err != nil {
		return err
	}
	spellings := map[string][]string{}
	var order []string
	for _, tag := range tags {
		folded := compare.Text(tag)
		if spellings[folded] == nil {
			order = append(order, folded)
		}
		spellings[folded] = append(spellings[folded], tag)
	}

	for _, folded := range order {
		all := spellings[folded]
		first, err := contacts.FirstTag(ctx, tx, folded, all)
		if err != nil {
			return err
		}
		for _, other := range all {
			if other == first {
				continue
			}
			if _, err := contacts.RenameTag(ctx, tx, other, first); err != nil {
				return err
			}
			b, err := bulk.Ask(ctx, tx, bulk.Action{Type: bulk.RenameTag, Tag: other, To: first}, nil, false)
			if err != nil {
				return err
			}
			if err := r.Retag(ctx, tx, b.ID); err != nil {
				return err
			}
			at.merged++
		}
	}
	at.ended = true
	return tx.Flush(ctx)
}

// foldStages lists the stages of contacts in the vocabulary.
func (r *Refolder) foldStages(ctx context.Context, tx *postgres.Tx, at *place) error {
	contacts.Planned(tx)
	stages, err := readTexts(ctx, tx, `WITH RECURSIVE step AS (
			(SELECT stage FROM contact WHERE org_id = $1 AND archived_at IS NULL ORDER BY stage LIMIT 1)
			UNION ALL
			SELECT (SELECT c.stage FROM contact c WHERE c.org_id = $1 AND c.archived_at IS NULL AND c.stage > step.stage
				ORDER BY c.stage LIMIT 1)
			FROM step WHERE step.stage IS NOT NULL
		) SELECT stage FROM step WHERE stage IS NOT NULL UNION SELECT unnest(stages) FROM org WHERE id = $1`, tx.Org())
	if err != nil {
		return err
	}
	contacts.ListStages(tx, stages)
	at.ended = true
	return tx.Flush(ctx)
}

func readTexts(ctx context.Context, tx *postgres.Tx, sql string, args ...any) ([]string, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	return all, nil
}
