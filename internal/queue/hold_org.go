package queue

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	holdOrgSQL = `INSERT INTO job_pause (scope, name, by_hand, suspended) VALUES ('org', $1::uuid::text, false, true)
		ON CONFLICT (scope, name) DO UPDATE SET suspended = true`
	// Rows that a worker is claiming are locked and are skipped.
	takeBackOrgSQL = `
UPDATE job SET wake_at = NULL, due = true
FROM (
	SELECT org_id, id FROM job
	WHERE lane = ANY ($2::text[]) AND org_id = $1 AND state = 'ready' AND wake_at IS NOT NULL AND owner IS NULL
	FOR UPDATE SKIP LOCKED
) AS free
WHERE job.org_id = free.org_id AND job.id = free.id`
	releaseOrgSQL = `UPDATE job_pause SET suspended = false WHERE scope = 'org' AND name = $1::uuid::text`
)

// HoldOrg lets no job of an org start until ReleaseOrg, whether or not an operator pauses the org's jobs meanwhile.
// Runs that have started continue. tx must have the System role.
func HoldOrg(tx *postgres.Tx, org id.ID) {
	tx.Queue(holdOrgSQL, org)
	tx.Queue(takeBackOrgSQL, org, LaneNames())
}

// ReleaseOrg ends HoldOrg. An operator's pause of the org's jobs continues. tx must have the System role.
func ReleaseOrg(tx *postgres.Tx, org id.ID) { tx.Queue(releaseOrgSQL, org) }

// AuditOrg writes what an operator did to an org to the log of operators' actions. tx must have the System role.
func AuditOrg(tx *postgres.Tx, actor, act string, org id.ID, reason string) {
	tx.Queue(`INSERT INTO job_act (id, actor, act, scope, count, reason) VALUES ($1, $2, $3, $4, 1, $5)`, id.New(),
		actor, act, "org "+org.String(), reason)
}
