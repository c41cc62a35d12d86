package models

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
)

// atMost is the maximum number of examples read. It equals the number that the learner uses.
const atMost = 100_000

// settled is the condition that a deal d with snapshot s is an example.
const settled = `d.org_id = $1 AND s.org_id = $1 AND d.id = s.deal_id AND d.archived_at IS NULL
	AND (d.status <> 'open' OR s.at < now() - interval '90 days')`

// examplesSQL reads from the timeline which features were edited within a day of the outcome. For custom fields edits
// before and after the outcome count: a field that users maintain when deals end will be maintained for future
// contacts, too. The contact's built-in fields, such as its stage, naturally change with a deal; their edits count only
// before the snapshot, where they are part of the features. So do a click and a reply: those that lead to a deal which
// is closed within the day are part of the outcome.
const examplesSQL = `
SELECT s.at, s.seen, d.status = 'won', (
	SELECT array_agg(DISTINCT k) FROM timeline t, json_object_keys(t.data -> 'changes') k
	WHERE t.org_id = $1 AND t.contact_id = s.contact_id AND t.type = 'contact.updated'
	AND json_typeof(t.data -> 'changes') = 'object'
		AND t.at > d.closed_at - interval '24 hours' AND t.at < d.closed_at + interval '24 hours'
		AND (k LIKE 'attributes.%' OR t.at <= s.at)), (
	SELECT array_agg(DISTINCT f.kind) FROM email_fact f
	WHERE f.org_id = $1 AND f.contact_id = s.contact_id AND f.at > d.closed_at - interval '24 hours' AND f.at < s.at
		AND (f.kind = 'replied' OR f.kind = 'clicked' AND NOT f.machine))
FROM score_snapshot s JOIN deal d ON ` + settled + `
ORDER BY s.at DESC, s.deal_id DESC LIMIT $2`

// seen is the stored form of a snapshot.
type seen struct {
	Stage      string         `json:"stage"`
	Email      string         `json:"email"`
	JobTitle   string         `json:"job_title"`
	Source     string         `json:"source"`
	Tags       []string       `json:"tags"`
	Company    bool           `json:"company"`
	Phone      bool           `json:"phone"`
	Owner      bool           `json:"owner"`
	Attributes map[string]any `json:"attributes"`
	Engagement []float64      `json:"engagement"` // missing: none, or an old snapshot
}

// Examples returns the latest 100,000 examples of the org's deals.
func Examples(ctx context.Context, tx *postgres.Tx) ([]learn.Example, error) {
	rows, err := tx.Query(ctx, examplesSQL, tx.Org(), atMost)
	if err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}

	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e learn.Example, err error) {
		var (
			raw         []byte
			edited, did []string
			s           seen
		)
		if err = row.Scan(&e.At, &raw, &e.Won, &edited, &did); err != nil {
			return e, err
		}
		if err = json.Unmarshal(raw, &s); err != nil {
			return e, fmt.Errorf("decode snapshot: %w", err)
		}
		e.Contact = scoring.Contact{
			Stage: s.Stage, Email: s.Email, JobTitle: s.JobTitle, Source: s.Source, Tags: s.Tags, Company: s.Company,
			Phone: s.Phone, Owner: s.Owner, Values: s.Attributes, Engagement: s.Engagement,
		}
		for _, name := range edited {
			e.Edited = append(e.Edited, scoring.Feature(name))
		}
		if slices.Contains(did, "clicked") {
			e.Edited = append(e.Edited, scoring.Clicked()...)
		}
		if slices.Contains(did, "replied") {
			e.Edited = append(e.Edited, scoring.Replied()...)
		}
		return e, nil
	})
}

// Grown returns the current number of outcomes and the number at the last training.
func Grown(ctx context.Context, tx *postgres.Tx) (now, trained int, err error) {
	err = tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM score_snapshot s JOIN deal d ON `+settled+`),
		coalesce((SELECT trained FROM score_current WHERE org_id = $1), 0)`,
		[]any{tx.Org()}, &now, &trained)
	if err != nil {
		return 0, 0, fmt.Errorf("count outcomes: %w", err)
	}
	return now, trained, nil
}

// Erase queues the deletion of a contact's snapshots. Trained models are kept; they name no contact.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM score_snapshot WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}
