package org

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ClientOrg is a client's org as its agency sees it. The org's rows belong to the client alone.
type ClientOrg struct {
	ID        id.ID      `json:"id" format:"uuid" doc:"ID of the client organization"`
	Name      string     `json:"name" doc:"Name of the client organization"`
	Status    string     `json:"status" enum:"active,paused,detached"`
	CreatedBy id.ID      `json:"created_by" format:"uuid" doc:"ID of the user or API key that created it"`
	CreatedAt wire.Time  `json:"created_at" format:"date-time" doc:"When the client organization was created"`
	UpdatedAt wire.Time  `json:"updated_at" format:"date-time"`
	PausedAt  *wire.Time `json:"paused_at" format:"date-time" doc:"When it was paused; null unless paused"`
	Edit      int64      `json:"-"`
}

// Descriptions implements wire.Describer.
func (ClientOrg) Descriptions() map[string]string {
	return map[string]string{
		"status": "active; paused: read-only until it is resumed; detached: no longer a client, shown only in " +
			"that response",
		"updated_at": "When its name, status or features were last changed",
	}
}

// The statuses of a ClientOrg. A paused org is read-only. A detached org has left its agency and is shown once.
const (
	ClientActive   = "active"
	ClientPaused   = "paused"
	ClientDetached = "detached"
)

var errNoClient = fault.New(fault.NotFound, "There is no such client organization.")

// AddClient inserts a client of tx's org, under the client's policy and the agency's in turn. The caller must insert
// the other rows of a new org. Whether the agency has room for it is checked at the commit.
func AddClient(ctx context.Context, tx *postgres.Tx, name string, by id.ID) (*ClientOrg, error) {
	if err := CheckName("name", name); err != nil {
		return nil, err
	}

	agency := tx.Org()
	now := wire.Now()
	c := &ClientOrg{
		ID: id.New(), Name: name, Status: ClientActive, CreatedBy: by, CreatedAt: now, UpdatedAt: now,
		Edit: 1,
	}
	err := tx.In(ctx, c.ID, func() error {
		tx.Queue(`INSERT INTO org (id, name, parent_org_id) VALUES ($1, $2, $3)`, c.ID, name, agency)
		Audit(ctx, tx,
			Entry{
				Action: "organization.created", Target: "organization", ID: c.ID.String(),
				Detail: map[string]any{"agency": agency},
			})
		return nil
	})
	if postgres.Violates(err, "org_parent") {
		return nil, fault.New(fault.Forbidden, "A client organization has no clients of its own.").Because(err)
	}
	if err != nil {
		return nil, fmt.Errorf("write client: %w", err)
	}

	tx.Queue(
		`INSERT INTO client_org (org_id, id, name, created_by, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $5)`, agency, c.ID, name, by, now)
	Audit(ctx, tx,
		Entry{
			Action: "client_org.created", Target: "client_org", ID: c.ID.String(),
			Detail: map[string]any{"name": name},
		})

	return c, nil
}

const clientSQL = `SELECT id, name, created_by, created_at, updated_at, paused_at, edit FROM client_org
	WHERE org_id = $1 AND detached_at IS NULL `

// Clients lists the clients of tx's org, newest first, beginning after below; a zero below begins at the newest.
func Clients(ctx context.Context, tx *postgres.Tx, below id.ID, limit int) ([]ClientOrg, error) {
	rows, err := tx.Query(ctx, clientSQL+`AND ($2 OR id < $3) ORDER BY id DESC LIMIT $4`, tx.Org(), below.IsZero(),
		below, limit)
	if err != nil {
		return nil, fmt.Errorf("read clients: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanClient)
	if err != nil {
		return nil, fmt.Errorf("read clients: %w", err)
	}

	return all, nil
}

// CountClients returns the total number of rows that Clients lists.
func CountClients(ctx context.Context, tx *postgres.Tx) (int64, error) {
	return countRows(ctx, tx, `SELECT count(*) FROM client_org WHERE org_id = $1 AND detached_at IS NULL`)
}

// Client returns one client of tx's org.
func Client(ctx context.Context, tx *postgres.Tx, client id.ID) (*ClientOrg, error) {
	return oneClient(ctx, tx, client, "")
}

func oneClient(ctx context.Context, tx *postgres.Tx, client id.ID, lock string) (*ClientOrg, error) {
	rows, err := tx.Query(ctx, clientSQL+`AND id = $2`+lock, tx.Org(), client)
	if err != nil {
		return nil, fmt.Errorf("read client: %w", err)
	}

	c, err := pgx.CollectExactlyOneRow(rows, scanClient)
	if postgres.None(err) {
		return nil, errNoClient
	}
	if err != nil {
		return nil, fmt.Errorf("read client: %w", err)
	}

	return &c, nil
}

func scanClient(row pgx.CollectableRow) (c ClientOrg, err error) {
	err = row.Scan(&c.ID, &c.Name, &c.CreatedBy, &c.CreatedAt, &c.UpdatedAt, &c.PausedAt, &c.Edit)
	c.Status = ClientActive
	if c.PausedAt != nil {
		c.Status = ClientPaused
	}
	return c, err
}

// LockClient is Client with a row lock until the end of tx. It calls check with the row's edit.
func LockClient(ctx context.Context, tx *postgres.Tx, client id.ID, check func(edit int64) error) (*ClientOrg, error) {
	c, err := oneClient(ctx, tx, client, ` FOR UPDATE`)
	if err != nil {
		return nil, err
	}
	return c, check(c.Edit)
}

// RenameClient changes the name of a locked client, in the agency's row and in the client's org.
func RenameClient(ctx context.Context, tx *postgres.Tx, c *ClientOrg, name string) error {
	if err := CheckName("name", name); err != nil {
		return err
	}
	if name == c.Name {
		return nil
	}

	c.Name = name
	tx.Queue(`UPDATE client_org SET name = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), c.ID, name)

	return tx.In(ctx, c.ID, func() error {
		_, err := Update(ctx, tx, Patch{Name: wire.Some(name)}, func(int64) error { return nil })
		return err
	})
}

// TouchClient records in the row and in the agency's log that a locked client was changed.
func TouchClient(ctx context.Context, tx *postgres.Tx, c *ClientOrg, action string, detail map[string]any) {
	c.UpdatedAt = wire.Now()
	c.Edit++
	tx.Queue(`UPDATE client_org SET updated_at = $3, edit = $4 WHERE org_id = $1 AND id = $2`, tx.Org(), c.ID,
		c.UpdatedAt, c.Edit)
	Audit(ctx, tx, Entry{Action: action, Target: "client_org", ID: c.ID.String(), Detail: detail})
}

// PauseClient makes a locked client's org read-only, or ends that. It reports whether anything changed.
func PauseClient(ctx context.Context, tx *postgres.Tx, c *ClientOrg, pause bool) (changed bool, err error) {
	if pause == (c.PausedAt != nil) {
		return false, nil
	}

	c.Status = ClientActive
	c.PausedAt = nil
	act := "resumed"
	if pause {
		now := wire.Now()
		c.Status = ClientPaused
		c.PausedAt = &now
		act = "paused"
	}

	tx.Queue(`UPDATE client_org SET paused_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), c.ID, c.PausedAt)
	TouchClient(ctx, tx, c, "client_org."+act, nil)
	agency := tx.Org()

	return true, tx.In(ctx, c.ID, func() error {
		tx.Queue(`UPDATE org SET paused_at = $2 WHERE id = $1`, c.ID, c.PausedAt)
		Audit(ctx, tx,
			Entry{
				Action: "organization." + act, Target: "organization", ID: c.ID.String(),
				Detail: map[string]any{"agency": agency},
			})
		return nil
	})
}

// DetachClient makes a locked client an independent org. It keeps its data and its users, one of whom must be an owner
// (else fault.Conflict). The caller must set its new plan.
func DetachClient(ctx context.Context, tx *postgres.Tx, c *ClientOrg) error {
	agency := tx.Org()
	now := wire.Now()
	err := tx.In(ctx, c.ID, func() error {
		if err := anotherOwner(ctx, tx, id.ID{}); err != nil {
			if fault.Is(err, fault.LastOwner) {
				return fault.New(fault.Conflict, "Nobody owns this organization yet: an owner has to join it first.")
			}
			return err
		}

		tx.Queue(`UPDATE org SET parent_org_id = NULL, paused_at = NULL WHERE id = $1`, c.ID)
		Audit(ctx, tx,
			Entry{
				Action: "organization.detached", Target: "organization", ID: c.ID.String(),
				Detail: map[string]any{"agency": agency},
			})

		return nil
	})
	if err != nil {
		return err
	}

	tx.Queue(`UPDATE client_org SET detached_at = $3, paused_at = NULL WHERE org_id = $1 AND id = $2`, tx.Org(), c.ID,
		now)
	c.Status = ClientDetached
	c.PausedAt = nil
	TouchClient(ctx, tx, c, "client_org.detached", nil)

	return nil
}

// TellAgency copies the name of a client's org to its agency's row.
func TellAgency(ctx context.Context, tx *postgres.Tx, o *Org) error {
	return tx.In(ctx, o.Agency, func() error {
		tx.Queue(`UPDATE client_org SET name = $3, updated_at = clock_timestamp(), edit = edit + 1
			WHERE org_id = $1 AND id = $2`, o.Agency, o.ID, o.Name)
		return nil
	})
}
