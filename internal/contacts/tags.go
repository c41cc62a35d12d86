package contacts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// TagUse is a tag and the number of live contacts with it.
type TagUse struct {
	Name     string `json:"name" doc:"The tag as it is stored"`
	Contacts int    `json:"contacts" doc:"Number of live contacts with the tag, counted up to 1,000"`
	More     bool   `json:"more" doc:"There are more than the count"`
}

// countedPerTag bounds the count per tag, so that a page of tags is as fast in a large org as in a small one.
const countedPerTag = 1000

// stepSQL skips from tag to tag, with one index probe per tag, however many contacts have it. A DISTINCT would read
// them all.
const stepSQL = `
WITH RECURSIVE step AS (
	(SELECT tag FROM contact_tag WHERE org_id = $1 AND tag > $2 ORDER BY tag LIMIT 1)
	UNION ALL
	SELECT (SELECT t.tag FROM contact_tag t WHERE t.org_id = $1 AND t.tag > step.tag ORDER BY t.tag LIMIT 1)
	FROM step WHERE step.tag IS NOT NULL
)`

// formerTag is true for a spelling that a job is rewriting, if some contact has the tag's name already.
const formerTag = `EXISTS (SELECT FROM vocabulary v WHERE v.org_id = $1 AND v.kind = 'tag' AND v.former <> '{}'
	AND step.tag = ANY (v.former) AND EXISTS (SELECT FROM contact_tag t WHERE t.org_id = $1 AND t.tag = v.name))`

const tagsSQL = stepSQL + `
SELECT tag, n FROM (
	SELECT tag, (SELECT count(*) FROM (SELECT FROM contact_tag t WHERE t.org_id = $1
	AND t.tag = ANY (step.tag || coalesce((SELECT v.former FROM vocabulary v WHERE v.org_id = $1 AND v.kind = 'tag'
		AND v.former <> '{}' AND v.name = step.tag LIMIT 1), '{}')) AND t.archived = false LIMIT $4) AS first) AS n
	FROM step WHERE tag IS NOT NULL AND NOT ` + formerTag + `
	OFFSET 0 -- n is counted once, for its condition and its value
) AS used WHERE n > 0 LIMIT $3`

// Tags returns at most limit tags of live contacts in byte order, starting after the tag after.
func Tags(ctx context.Context, tx *postgres.Tx, after string, limit int) ([]TagUse, error) {
	Planned(tx)
	rows, err := tx.Query(ctx, tagsSQL, tx.Org(), after, limit, countedPerTag+1)
	if err != nil {
		return nil, fmt.Errorf("list tags: %w", err)
	}

	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t TagUse, err error) {
		err = row.Scan(&t.Name, &t.Contacts)
		if t.More = t.Contacts > countedPerTag; t.More {
			t.Contacts = countedPerTag
		}
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("list tags: %w", err)
	}

	return all, nil
}

// countTagsSQL probes each tag once. EXISTS would become a join with all tags of all contacts.
const countTagsSQL = stepSQL + `
SELECT count(*) FROM step WHERE tag IS NOT NULL AND NOT ` + formerTag + ` AND (SELECT TRUE FROM contact_tag t
	WHERE t.org_id = $1
	AND t.tag = step.tag AND t.archived = false LIMIT 1)`

// CountTags returns the number of tags of live contacts.
func CountTags(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	Planned(tx)
	if err = tx.QueryRow(ctx, countTagsSQL, []any{tx.Org(), ""}, &n); err != nil {
		return 0, fmt.Errorf("count tags: %w", err)
	}
	return n, nil
}
