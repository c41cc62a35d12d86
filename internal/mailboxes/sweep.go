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

const claimHealthSQL = `
UPDATE mailbox m SET health_at = now()
FROM (
	SELECT org_id, id FROM mailbox
	WHERE archived_at IS NULL AND (health_at IS NULL OR health_at < now() - interval '15 minutes')
	ORDER BY health_at NULLS FIRST LIMIT $1 FOR UPDATE SKIP LOCKED
) due
WHERE m.org_id = due.org_id AND m.id = due.id RETURNING m.org_id, m.id`

// ClaimHealth returns at most limit mailboxes that Judge was not called for in the last quarter of an hour. It does not
// return them again within the next one.
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

// Domains with three records are looked up once a day, others every hour.
const claimDomainsSQL = `
UPDATE mailbox m SET domain_checked_at = now()
FROM (
	SELECT org_id, id FROM mailbox
	WHERE archived_at IS NULL AND kind <> 'sandbox' AND (domain_checked_at IS NULL OR domain_checked_at < now()
		- make_interval(hours => CASE WHEN spf = 'pass' AND dkim = 'pass' AND dmarc = 'pass' THEN 24 ELSE 1 END))
	ORDER BY domain_checked_at NULLS FIRST LIMIT $1 FOR UPDATE SKIP LOCKED
) due
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
