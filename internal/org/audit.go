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
	tx.Queue(auditSQL, tx.Org(), id.New(), by.ActorType, by.ActorID, e.Action, e.Target, e.ID,
		detailJSON(e), by.RequestID)
}

// AuditEverywhere writes e to the log of every org of user in tx, which runs as System. It is for changes that users
// make to their own access.
func AuditEverywhere(ctx context.Context, tx *postgres.Tx, user id.ID, e Entry) {
	by := events.OriginOf(ctx)
	tx.Queue(`
		INSERT INTO audit_log (org_id, id, actor_type, actor_id, action, target_type, target_id, detail, request_id)
		SELECT org_id, $2, $3, $4, $5, $6, $7, $8, $9 FROM member WHERE user_id = $1 AND removed_at IS NULL`,
		user, id.New(), by.ActorType, by.ActorID, e.Action, e.Target, e.ID,
		detailJSON(e), by.RequestID)
}

func detailJSON(e Entry) []byte {
	if len(e.Detail) == 0 {
		return []byte("{}")
	}

	b, err := json.Marshal(e.Detail)
	if err != nil {
		return []byte("{}")
	}

	return b
}

// AuditEntry is an audit entry as the API shows it.
type AuditEntry struct {
	ID        id.ID          `json:"id" format:"uuid" doc:"ID of the entry"`
	CreatedAt wire.Time      `json:"created_at" format:"date-time" doc:"When the action happened"`
	Actor     AuditActor     `json:"actor" doc:"Who or what acted"`
	Action    string         `json:"action" doc:"What was done, such as api_key.created or member.removed"`
	Target    AuditTarget    `json:"target" doc:"The object of the action"`
	Detail    map[string]any `json:"detail" doc:"Facts about the action; its members depend on action and may be empty"`
	RequestID *string        `json:"request_id" doc:"The API request that acted; null for background work"`
}

// AuditActor is the actor of an audit entry.
type AuditActor struct {
	Type string  `json:"type" enum:"user,api_key,system" doc:"user, api_key, or system for background work"`
	ID   *string `json:"id" doc:"ID of the user or API key; null for system"`
}

// AuditTarget is the object of an action.
type AuditTarget struct {
	Type string `json:"type" doc:"Kind of the object, such as member or webhook"`
	ID   string `json:"id" doc:"ID of the object"`
}

// Acts lists the entries of tx's org that f selects, newest first, beginning after below; a zero below begins at the
// newest.
func Acts(ctx context.Context, tx *postgres.Tx, f *ActFilter, below id.ID, limit int) ([]AuditEntry, error) {
	sql, args := f.listSQL(tx.Org(), below, limit)
	tx.Queue(planning)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}

	acts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a AuditEntry, err error) {
		err = row.Scan(&a.ID, &a.CreatedAt, &a.Actor.Type, &a.Actor.ID, &a.Action, &a.Target.Type, &a.Target.ID,
			&a.Detail, &a.RequestID)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}

	return acts, nil
}
