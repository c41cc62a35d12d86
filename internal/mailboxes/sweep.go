package mailboxes

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The sweeps run as the System role and cover all orgs. Rows that somebody else has locked are left to the next sweep.

const endHoldsSQL = `
UPDATE mailbox m SET status = 'active', status_reason = '', held_until = NULL, computed = computed + 1
FROM (
	SELECT org_id, id FROM mailbox WHERE status = 'held' AND held_until <= now() AND archived_at IS NULL
	LIMIT $1 FOR UPDATE SKIP LOCKED
) due
WHERE m.org_id = due.org_id AND m.id = due.id`

// EndHolds makes at most limit mailboxes active whose hold has ended, and returns their number.
func EndHolds(ctx context.Context, system *postgres.Tx, limit int) (int64, error) {
	n, err := system.Exec(ctx, endHoldsSQL, limit)
	if err != nil {
		return 0, fmt.Errorf("end holds of mailboxes: %w", err)
	}
	return n, nil
}

// Due is a mailbox whose health is to be counted.
type Due struct{ Org, Mailbox id.ID }

// claimHealthSQL returns of the claimed mailboxes those whose figures can change: with a mail since two days before the
// last count, or with bounces or complaints.
const claimHealthSQL = `
WITH claimed AS (
	UPDATE mailbox m SET health_at = now()
	FROM (
		SELECT org_id, id, health_at AS was FROM mailbox
		WHERE archived_at IS NULL AND coalesce(health_at, '-infinity'::timestamptz) < now() - interval '15 minutes'
		ORDER BY coalesce(health_at, '-infinity'::timestamptz) LIMIT $1 FOR UPDATE SKIP LOCKED
	) due
	WHERE m.org_id = due.org_id AND m.id = due.id
	RETURNING m.org_id, m.id, due.was, m.health_bounced > 0 OR m.health_complained > 0 AS poor
)
SELECT c.org_id, c.id FROM claimed c
WHERE c.was IS NULL OR c.poor OR EXISTS (SELECT FROM email e WHERE e.org_id = c.org_id AND e.mailbox_id = c.id
	AND e.marked_at > c.was - interval '2 days')`

// ClaimHealth returns the mailboxes to judge, of at most limit that Judge was not called for in the last quarter of an
// hour. It does not return them again within the next one.
func ClaimHealth(ctx context.Context, system *postgres.Tx, limit int) ([]Due, error) {
	rows, err := system.Query(ctx, claimHealthSQL, limit)
	if err != nil {
		return nil, fmt.Errorf("claim mailboxes: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Due])
	if err != nil {
		return nil, fmt.Errorf("claim mailboxes: %w", err)
	}
	return all, nil
}

// complete is the condition that the domain of a mailbox has three records, and checkedAt when they were looked up.
const (
	complete  = `spf = 'pass' AND dkim = 'pass' AND dmarc = 'pass'`
	checkedAt = `coalesce(domain_checked_at, '-infinity'::timestamptz)`
)

// claimDomainsSQL claims domains with three records once a day and others every hour. Each has an index.
const claimDomainsSQL = `
WITH complete AS MATERIALIZED (
	SELECT org_id, id, ` + checkedAt + ` AS at FROM mailbox
	WHERE archived_at IS NULL AND kind <> 'sandbox' AND ` + complete + `
		AND ` + checkedAt + ` < now() - interval '1 day'
	ORDER BY ` + checkedAt + ` LIMIT $1 FOR UPDATE SKIP LOCKED
), others AS MATERIALIZED (
	SELECT org_id, id, ` + checkedAt + ` AS at FROM mailbox
	WHERE archived_at IS NULL AND kind <> 'sandbox' AND NOT (` + complete + `)
		AND ` + checkedAt + ` < now() - interval '1 hour'
	ORDER BY ` + checkedAt + ` LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE mailbox m SET domain_checked_at = now()
FROM (SELECT org_id, id FROM (TABLE complete UNION ALL TABLE others) AS either ORDER BY at LIMIT $1) due
WHERE m.org_id = due.org_id AND m.id = due.id RETURNING m.from_domain`

// ClaimDomains returns the domains of at most limit mailboxes whose records are to be looked up again. It does not
// return them again within the next hour.
func ClaimDomains(ctx context.Context, system *postgres.Tx, limit int) ([]string, error) {
	rows, err := system.Query(ctx, claimDomainsSQL, limit)
	if err != nil {
		return nil, fmt.Errorf("claim domains of mailboxes: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("claim domains of mailboxes: %w", err)
	}
	return all, nil
}

// SetDomain queues the findings of a domain for its mailboxes. A finding that is unknown, because the look-up failed,
// leaves the one before. An org that signs for the domain by a key of its own has a DKIM record, whose name the look-up
// cannot know. The ETag changes with the findings.
func SetDomain(system *postgres.Tx, domain, spf, dkim, dmarc string) {
	system.Queue(`
		UPDATE mailbox SET domain_checked_at = now(), spf = new.spf, dkim = new.dkim, dmarc = new.dmarc,
			computed = computed + 1
		FROM (
			SELECT org_id, id, coalesce(nullif($2, 'unknown'), spf) AS spf,
				CASE WHEN `+signed+` THEN 'pass' ELSE coalesce(nullif($3, 'unknown'), dkim) END AS dkim,
				coalesce(nullif($4, 'unknown'), dmarc) AS dmarc
			FROM mailbox WHERE from_domain = $1 AND archived_at IS NULL FOR UPDATE SKIP LOCKED
		) new
		WHERE mailbox.org_id = new.org_id AND mailbox.id = new.id`, domain, spf, dkim, dmarc)
}

// signed is the condition that the org of a mailbox has a verified key of its domain.
const signed = `EXISTS (SELECT FROM sending_domain d WHERE d.org_id = mailbox.org_id
	AND d.domain = mailbox.from_domain AND d.status = 'verified')`

// SignedDomain queues that the mailboxes of a domain have a DKIM record, because the org of tx signs for it.
func SignedDomain(tx *postgres.Tx, domain string) {
	tx.Queue(`UPDATE mailbox SET dkim = 'pass', computed = computed + 1
		WHERE org_id = $1 AND from_domain = $2 AND archived_at IS NULL AND dkim <> 'pass'`, tx.Org(), domain)
}
