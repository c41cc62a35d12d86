package sequences

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Create creates a sequence with the draft that p describes. An invalid p is a validation fault.
func Create(ctx context.Context, tx *postgres.Tx, p *Patch, with *Ground) (Row, error) {
	now := wire.Now()
	first := 1
	s := Sequence{
		ID: id.New(), Status: Draft, DraftVersion: &first, Settings: defaultSettings(), Steps: []steps.Step{},
		latest: first, CreatedAt: now, UpdatedAt: now,
	}
	s.StopOn = with.StopOn
	d := draft{Form: form.At(""), s: &s, with: with}
	d.ReadOnly(p.Sent, &s)
	form.Missing(d.Form, "name", p.Name)
	if err := d.applyPatch(p); err != nil {
		return Row{}, err
	}
	if err := d.checkReferences(ctx, tx, &Sequence{}); err != nil {
		return Row{}, err
	}

	return Row{Value: s, Edit: 1}, insertSequence(tx, &s)
}

// insertSequence queues inserting a sequence and its draft.
func insertSequence(tx *postgres.Tx, s *Sequence) error {
	tx.Queue(`INSERT INTO sequence (org_id, id, name, name_folded, status, draft, latest, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
		tx.Org(), s.ID, s.Name, compare.Text(s.Name), s.Status, s.DraftVersion, s.latest, s.CreatedAt)
	return insertVersion(tx, s)
}

// insertVersion queues inserting the draft of s.
func insertVersion(tx *postgres.Tx, s *Sequence) error {
	settings, err := json.Marshal(s.Settings)
	if err != nil {
		return fmt.Errorf("encode settings: %w", err)
	}
	tx.Queue(`INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at)
		VALUES ($1, $2, $3, $4, $5)`, tx.Org(), s.ID, s.DraftVersion, settings, wire.Now())
	return insertSteps(tx, s)
}

func insertSteps(tx *postgres.Tx, s *Sequence) error {
	for i := range s.Steps {
		body, err := json.Marshal(&s.Steps[i])
		if err != nil {
			return fmt.Errorf("encode step: %w", err)
		}
		tx.Queue(`INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			tx.Org(), s.ID, s.DraftVersion, i, s.Steps[i].Key, s.Steps[i].Kind, body)
	}
	return nil
}

// Update applies p to a live sequence; see record.Table.Update. A change of anything but the name goes to the draft,
// which is created from the active version if there is none. The error is a conflict for an archived sequence.
func Update(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *Patch, with *Ground) (Change, error) {
	queueLock(tx, i)
	ch, err := table.Update(ctx, tx, i, match, func(was, now *Sequence) error {
		if was.Status == Archived {
			return fault.New(fault.SequenceNotActive, "The sequence is archived. Duplicate it to go on.")
		}
		d := draft{Form: form.At(""), s: now, with: with}
		d.ReadOnly(p.Sent, was)
		if err := d.applyPatch(p); err != nil {
			return err
		}
		return d.checkReferences(ctx, tx, was)
	})
	if err != nil || !ch.Changed() {
		return ch, err
	}

	s := &ch.Value
	if !reflect.DeepEqual(s.Settings, ch.Before.Settings) || !reflect.DeepEqual(s.Steps, ch.Before.Steps) {
		if err := writeDraft(tx, s); err != nil {
			return ch, err
		}
	}
	tx.Queue(`UPDATE sequence SET name = $3, name_folded = $4, draft = $5, latest = $6, updated_at = $7, edit = edit + 1
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), s.ID, s.Name, compare.Text(s.Name), s.DraftVersion, s.latest, s.UpdatedAt)
	return ch, nil
}

// writeDraft queues writing the settings and steps of s to its draft, which it creates if there is none.
func writeDraft(tx *postgres.Tx, s *Sequence) error {
	if s.DraftVersion == nil {
		s.latest++
		number := s.latest
		s.DraftVersion = &number
		return insertVersion(tx, s)
	}

	settings, err := json.Marshal(s.Settings)
	if err != nil {
		return fmt.Errorf("encode settings: %w", err)
	}

	tx.Queue(`UPDATE sequence_version SET settings = $4 WHERE org_id = $1 AND sequence_id = $2 AND number = $3`,
		tx.Org(), s.ID, s.DraftVersion, settings)
	tx.Queue(`DELETE FROM sequence_step WHERE org_id = $1 AND sequence_id = $2 AND version = $3`,
		tx.Org(), s.ID, s.DraftVersion)
	return insertSteps(tx, s)
}

// checkReferences checks the mailboxes, endpoints and step keys of the draft that differ from those of was, and returns
// the fault with all that was recorded.
func (d *draft) checkReferences(ctx context.Context, tx *postgres.Tx, was *Sequence) error {
	if !slices.Equal(d.s.MailboxIDs, was.MailboxIDs) {
		err := d.checkExist(ctx, tx, d.s.MailboxIDs, `SELECT id FROM mailbox WHERE org_id = $1 AND id = ANY ($2::uuid[])
			AND archived_at IS NULL`, func(i int) {
			d.Wrong("mailbox_ids/"+strconv.Itoa(i), "unknown_mailbox", "There is no such mailbox.")
		})
		if err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(d.s.EnrollSegment, was.EnrollSegment) {
		if err := checkSegment(ctx, tx, d.Form, d.s.EnrollSegment); err != nil {
			return err
		}
	}
	if reflect.DeepEqual(d.s.Steps, was.Steps) {
		return d.draftFault()
	}

	var endpoints []id.ID
	var at []int
	for i := range d.s.Steps {
		if w := d.s.Steps[i].Webhook; w != nil {
			endpoints, at = append(endpoints, w.EndpointID), append(at, i)
		}
	}

	err := d.checkExist(ctx, tx, endpoints,
		`SELECT id FROM webhook_endpoint WHERE org_id = $1 AND id = ANY ($2::uuid[])`,
		func(i int) {
			d.Wrong("steps/"+strconv.Itoa(at[i])+"/webhook/endpoint_id", "unknown_endpoint",
				"There is no such webhook endpoint.")
		})
	if err == nil {
		err = d.checkKinds(ctx, tx)
	}
	if err != nil {
		return err
	}

	return d.draftFault()
}

// checkExist calls missing with the index of each id that the statement does not find. $1 is the org, $2 are the ids.
func (d *draft) checkExist(ctx context.Context, tx *postgres.Tx, ids []id.ID, sql string, missing func(i int)) error {
	if len(ids) == 0 {
		return nil
	}

	rows, err := tx.Query(ctx, sql, tx.Org(), ids)
	if err != nil {
		return fmt.Errorf("look up references: %w", err)
	}

	found, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return fmt.Errorf("look up references: %w", err)
	}

	for i := range ids {
		if !slices.Contains(found, ids[i]) {
			missing(i)
		}
	}

	return nil
}

// checkKinds checks that no step has the key of a step of another kind in a frozen version.
func (d *draft) checkKinds(ctx context.Context, tx *postgres.Tx) error {
	if d.s.Version == nil {
		return nil
	}

	rows, err := tx.Query(ctx, `SELECT DISTINCT s.key, s.kind FROM sequence_step s
		WHERE s.org_id = $1 AND s.sequence_id = $2 AND s.version <> coalesce($3, 0)`,
		tx.Org(), d.s.ID, d.s.DraftVersion)
	if err != nil {
		return fmt.Errorf("read keys of steps: %w", err)
	}

	var key, kind string
	_, err = pgx.ForEachRow(rows, []any{&key, &kind}, func() error {
		for i := range d.s.Steps {
			if s := &d.s.Steps[i]; s.Key == key && s.Kind != kind {
				d.Wrong("steps/"+strconv.Itoa(i)+"/key", "key_in_use",
					"Another version has a step of the kind "+kind+" with this key.")
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read keys of steps: %w", err)
	}

	return nil
}
