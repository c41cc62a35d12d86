package org

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Entry is one action for the audit log. The actor and the request come from the context's events.Origin.
type Entry struct {
	Action string         // area.past_tense, such as member.removed
	Target string         // type of the target: member, api_key, webhook, ...
	ID     string         // id of the target
	Detail map[string]any // further details for a reader; never a secret
}

const auditSQL = `INSERT INTO audit_log (org_id, id, actor_type, actor_id, action, target_type, target_id, detail,
	request_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// Audit writes e to the log of tx's org in tx, so that an action and its entry commit together.
func Audit(ctx context.Context, tx *postgres.Tx, e Entry) {
	by := events.OriginOf(ctx)
	tx.Queue(auditSQL, tx.Org(), id.New(), by.ActorType, by.ActorID, e.Action, e.Target, e.ID, detail(e), by.RequestID)
}

// AuditEverywhere writes e to the log of every org of user in tx, which runs as System. It is for changes that users
// make to their own access.
func AuditEverywhere(ctx context.Context, tx *postgres.Tx, user id.ID, e Entry) {
	by := events.OriginOf(ctx)
	tx.Queue(`
		INSERT INTO audit_log (org_id, id, actor_type, actor_id, action, target_type, target_id, detail, request_id)
		SELECT org_id, $2, $3, $4, $5, $6, $7, $8, $9 FROM member WHERE user_id = $1 AND removed_at IS NULL`,
		user, id.New(), by.ActorType, by.ActorID, e.Action, e.Target, e.ID, detail(e), by.RequestID)
}

func detail(e Entry) []byte {
	if len(e.Detail) == 0 {
		return []byte("{}")
	}
	b, err := json.Marshal(e.Detail)
	if err != nil {
		return []byte("{}")
	}
	return b
}

// Act is an audit entry as the API shows it.
type Act struct {
	ID        id.ID          `json:"id" format:"uuid"`
	CreatedAt wire.Time      `json:"created_at" format:"date-time"`
	Actor     AuditActor     `json:"actor"`
	Action    string         `json:"action"`
	Target    Target         `json:"target"`
	Detail    map[string]any `json:"detail"`
	RequestID *string        `json:"request_id"`
}

// AuditActor is the actor of an audit entry.
type AuditActor struct {
	Type string  `json:"type" enum:"user,api_key,system"`
	ID   *string `json:"id"`
}

// Target is the object of an action.
type Target struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Acts lists the log of tx's org, newest first, beginning after below; a zero below begins at the newest.
func Acts(ctx context.Context, tx *postgres.Tx, below id.ID, limit int) ([]Act, error) {
	if below.IsZero() {
		below = id.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	}
	rows, err := tx.Query(ctx, `
		SELECT id, created_at, actor_type, NULLIF(actor_id, ''), action, target_type, target_id, detail,
		NULLIF(request_id, '')
		FROM audit_log WHERE org_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, tx.Org(), below, limit)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	acts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Act, err error) {
		err = row.Scan(&a.ID, &a.CreatedAt, &a.Actor.Type, &a.Actor.ID, &a.Action, &a.Target.Type, &a.Target.ID,
			&a.Detail, &a.RequestID)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return acts, nil
}
