package contacts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Purge permanently deletes a contact, live or archived: its rows, its events with their deliveries and attempts, and
// stored responses that contain it. Other packages delete their data about it afterwards, its timeline last. An unknown
// contact is a not_found fault.
func Purge(ctx context.Context, tx *postgres.Tx, i id.ID) error {
	was, err := lockContact(ctx, tx, i, true)
	if err != nil {
		return err
	}
	if err := eraseEvents(ctx, tx, i); err != nil {
		return err
	}

	tx.Queue(`DELETE FROM idempotency_key WHERE org_id = $1 AND position(convert_to($2, 'UTF8') IN answer) > 0`,
		tx.Org(), i.String())
	if err := wordindex.Erase(ctx, tx, i); err != nil {
		return err
	}

	takeWords(tx, i, wordsOf(&was.Contact))
	takeTags(tx, &was.Contact, was.Tag)
	tx.Queue(`DELETE FROM segment_member WHERE org_id = $1 AND contact_id = $2`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact_attribute WHERE org_id = $1 AND contact_id = $2`, tx.Org(), i)
	tx.Queue(`DELETE FROM score_history WHERE org_id = $1 AND contact_id = $2`, tx.Org(), i)
	eraseFromFiles(tx, &was.Contact)
	tx.Queue(`DELETE FROM contact_score WHERE org_id = $1 AND contact_id = $2`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact WHERE org_id = $1 AND id = $2`, tx.Org(), i)
	return tx.Flush(ctx)
}

// RecordedScore is a score that the scoring job recorded.
type RecordedScore struct {
	RecordedAt   wire.Time `json:"recorded_at" format:"date-time" doc:"When the score was recorded"`
	LeadScore    float64   `json:"lead_score" doc:"100 x probability, two decimals"`
	Probability  float64   `json:"probability" doc:"Probability that the contact's deal is won, 0 to 1"`
	ModelVersion string    `json:"model_version" doc:"Version of the model that computed the score"`
}

// ExportedEvent is an event about a contact.
type ExportedEvent struct {
	ID        id.ID           `json:"id" format:"uuid" doc:"ID of the event"`
	Type      string          `json:"type" doc:"Type of the event, such as contact.updated"`
	CreatedAt wire.Time       `json:"created_at" format:"date-time" doc:"When the event was written"`
	Data      json.RawMessage `json:"data" doc:"Payload of the event: object and previous"`
}

// Held is all stored data about a contact.
type Held struct {
	Contact      Contact         `json:"contact" doc:"The contact, archived or not"`
	ScoreHistory []RecordedScore `json:"score_history" doc:"Recorded scores of the contact, oldest first"`
	Events       []ExportedEvent `json:"events" doc:"Stored events about the contact, oldest first"`
}

// Export returns all stored data about a contact, live or archived, including the events of the last month. Call it in
// a Tx, so that all parts are from one snapshot.
func Export(ctx context.Context, tx *postgres.Tx, i id.ID) (Held, error) {
	r, err := Get(ctx, tx, i, true)
	if err != nil {
		return Held{}, err
	}

	h := Held{Contact: r.Contact}
	rows, err := tx.Query(ctx,
		`SELECT recorded_at, score, probability, version FROM score_history WHERE org_id = $1 AND contact_id = $2
			UNION ALL
			SELECT c.created_at, coalesce(s.first_score, s.score), coalesce(s.first_probability, s.probability),
				coalesce(s.first_version, s.version)
			FROM contact c JOIN contact_score s ON s.org_id = c.org_id AND s.contact_id = c.id
			WHERE c.org_id = $1 AND c.id = $2 AND s.first_version IS DISTINCT FROM ''
				AND NOT EXISTS (SELECT FROM score_history h WHERE h.org_id = $1 AND h.contact_id = $2
					AND h.recorded_at <= c.created_at)
			ORDER BY recorded_at`, tx.Org(), i)
	if err != nil {
		return Held{}, fmt.Errorf("read score history: %w", err)
	}
	if h.ScoreHistory, err = pgx.CollectRows(rows, pgx.RowToStructByPos[RecordedScore]); err != nil {
		return Held{}, fmt.Errorf("read score history: %w", err)
	}

	h.Events, err = readEvents(ctx, tx, i)
	return h, err
}

// eraseFromFiles queues the deletion of a contact's data in imports and exports: its undo images, failed rows with its
// address, and the files of all exports of the org.
func eraseFromFiles(tx *postgres.Tx, c *Contact) {
	tx.Queue(`DELETE FROM contact_import_effect e USING contact_import i WHERE i.org_id = $1 AND e.org_id = $1
		AND e.import_id = i.id AND e.contact_id = $2`, tx.Org(), c.ID)
	tx.Queue(`DELETE FROM contact_import_error WHERE org_id = $1 AND position(convert_to($2, 'UTF8') IN cells) > 0`,
		tx.Org(), c.Email)
	tx.Queue(`DELETE FROM contact_export_part WHERE org_id = $1`, tx.Org())
	tx.Queue(`UPDATE contact_export SET status = 'expired', computed = computed + 1 WHERE org_id = $1
		AND status = 'completed'`, tx.Org())
	tx.Queue(`UPDATE contact_export SET after_at = NULL, after_id = NULL WHERE org_id = $1
		AND completed_at IS NOT NULL AND after_id = $2`, tx.Org(), c.ID)
	// A completed export or bulk change no longer needs its filter, so a filter with the address can be deleted.
	tx.Queue(`UPDATE contact_export SET filter = NULL, computed = computed + 1 WHERE org_id = $1
		AND completed_at IS NOT NULL AND position($2 IN lower(filter::text)) > 0`, tx.Org(), compare.Address(c.Email))
	tx.Queue(`UPDATE contact_bulk SET filter = NULL WHERE org_id = $1 AND completed_at IS NOT NULL
		AND position($2 IN lower(filter::text)) > 0`, tx.Org(), compare.Address(c.Email))
}
