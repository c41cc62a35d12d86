package branding

// Custom domains: the hosts under which an org's hosted pages are served, and under which the links of its mail are.
//
// # Ownership of a host
//
// A claim is a row. Any number of orgs may claim one host, and a mere claim is not served. A TXT record with the
// claim's token, 128 random bits generated for each claim, proves ownership: the first org with a record that all
// resolvers return holds the host, enforced by a unique index over the proven claims. Another org cannot claim a held
// host. The host becomes free when its holder removes it, or when the proof has been missing for the whole of Grace and
// Quarantine. The next holder needs a new token, so the old holder's records prove nothing. Removed claims are kept as
// a record of which org was served under a host and when.
//
// # What is served
//
// A host is served in the states verified, active and degraded only. verified has the proof alone, so the certificate
// can be issued before traffic is routed here. active has the proof, and the host points here. degraded has lost one of
// them in three consecutive checks by every resolver; it is served for Grace, because a record removed by mistake
// should not take a page offline. suspended follows degraded, or a plan without the feature. After, a pure function,
// computes the next state; see its table.
//
// # DNS results
//
// Resolvers that disagree or cannot be queried never count against a domain: the state stays, and the check is
// repeated. Failures count only if they are FailureGap apart, regardless of what triggers the check.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Act is an entry for the org's audit log.
type Act struct {
	Action string // domain.claimed, domain.verified, domain.active, domain.degraded, domain.suspended or domain.removed
	Host   string
	Detail map[string]any
}

// DomainOptions are the dependencies of Domains.
type DomainOptions struct {
	// System reads the claims of all orgs.
	System *postgres.DB
	// Target is the name that hosts must point to, by CNAME.
	Target string
	// Own lists the platform's own names. They and their subdomains cannot be claimed.
	Own []string
	// Views are the resolvers; all of them must agree.
	Views []View
	// Audit writes to the audit log of tx's org.
	Audit func(ctx context.Context, tx *postgres.Tx, act Act)
}

// Domains manages the custom domains of all orgs.
type Domains struct{ DomainOptions }

// NewDomains returns Domains with the given options.
func NewDomains(o DomainOptions) *Domains { return &Domains{o} }

// Use is what a host is claimed for. An org has at most one host for each use.
type Use string

// The uses.
const (
	Pages Use = "pages" // hosted pages
	Links Use = "links" // pixels and links of mail
)

// Domain is a stored claim.
type Domain struct {
	ID    id.ID
	Host  string // lower case, punycode
	Use   Use
	Token string // value of its TXT record
	Standing
}

// DNSRecord is a DNS record that the owner has to set.
type DNSRecord struct {
	Type  string `json:"type" enum:"TXT,CNAME,A,AAAA" doc:"A or AAAA if the target is an address instead of a name"`
	Name  string `json:"name" doc:"Name of the record, fully qualified, without a trailing dot"`
	Value string `json:"value" doc:"Value of the record, without quotes"`
}

// The label of the TXT record below the host, and the prefix of its value.
const (
	proofLabel  = "_funnelwork."
	proofPrefix = "funnelwork-verify="
)

// Records returns the DNS records that d needs. They do not change during the claim.
func (s *Domains) Records(d *Domain) []DNSRecord {
	lead := "CNAME"
	if a, err := netip.ParseAddr(s.Target); err == nil {
		lead = "AAAA"
		if a.Unmap().Is4() {
			lead = "A"
		}
	}

	return []DNSRecord{
		{Type: "TXT", Name: proofLabel + d.Host, Value: proofPrefix + d.Token},
		{Type: lead, Name: d.Host, Value: s.Target},
	}
}

// Found returns, for each of the Records of d, whether the last check found it.
func (d *Domain) Found() [2]bool {
	proof := d.ProvenAt != nil && d.LostAt == nil && d.Reason != TXTMissing && d.Reason != TXTWrong
	route := d.Status == Active && d.Reason != CNAMEMissing && d.Reason != CNAMEWrong
	return [2]bool{proof, route}
}

const domainColumns = `id, host, use, token, status, reason, failures, claimed_at, proven_at, routed_at, checked_at,
	failed_at, degraded_at,
	suspended_at, lost_at, removed_at, next_check_at`

func scanDomain(row pgx.CollectableRow) (*Domain, error) {
	d := &Domain{}
	err := row.Scan(&d.ID, &d.Host, &d.Use, &d.Token, &d.Status, &d.Reason, &d.Failures, &d.ClaimedAt, &d.ProvenAt,
		&d.RoutedAt, &d.CheckedAt, &d.FailedAt,
		&d.DegradedAt, &d.SuspendedAt, &d.LostAt, &d.RemovedAt, &d.NextCheckAt)
	return d, err
}

// Get returns the domain of tx's org for a use, or nil.
func (s *Domains) Get(ctx context.Context, tx *postgres.Tx, use Use) (*Domain, error) {
	return s.findDomain(ctx, tx, "use = $2", use)
}

// ByID returns a domain of tx's org, or nil if there is none or it was removed.
func (s *Domains) ByID(ctx context.Context, tx *postgres.Tx, domain id.ID) (*Domain, error) {
	return s.findDomain(ctx, tx, "id = $2", domain)
}

func (s *Domains) findDomain(ctx context.Context, tx *postgres.Tx, where string, arg any) (*Domain,
	error,
) {
	rows, err := tx.Query(ctx, `SELECT `+domainColumns+` FROM domain WHERE org_id = $1 AND status <> 'removed' AND `+
		where, tx.Org(), arg)
	if err != nil {
		return nil, fmt.Errorf("read domain: %w", err)
	}

	d, err := pgx.CollectExactlyOneRow(rows, scanDomain)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // the org has none
	}

	if err != nil {
		return nil, fmt.Errorf("read domain: %w", err)
	}

	return d, nil
}

// Held returns domain_taken if another org holds the host. It is an early check for the caller's convenience; the
// unique index decides when a claim is proven.
func (s *Domains) Held(ctx context.Context, host string, by id.ID) error {
	var taken bool
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM domain WHERE host = $1 AND held AND org_id <> $2)`,
			[]any{host, by}, &taken)
	})
	if err != nil {
		return fmt.Errorf("look up host: %w", err)
	}

	if taken {
		return fault.New(fault.DomainTaken,
			"Another organization has this domain, and its DNS records prove it. Remove it there first.")
	}

	return nil
}

// Claim makes host, which must be a result of Host, the domain of tx's org for a use. A repeated claim changes nothing.
// A new host replaces the previous one, which is no longer served.
func (s *Domains) Claim(ctx context.Context, tx *postgres.Tx, use Use, host string) (*Domain, error) {
	// Serialize the claims of one org, so that at most one remains.
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('domain ' || $1::text, 0))`, tx.Org().String())
	d, err := s.findDomain(ctx, tx, "use = $2 FOR UPDATE", use)
	if err != nil || d != nil && d.Host == host {
		return d, err
	}

	if d != nil {
		s.removeDomain(ctx, tx, d, "replaced")
	}

	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	rows, err := tx.Query(ctx,
		`INSERT INTO domain (org_id, id, host, use, token) VALUES ($1, $2, $3, $4, $5) RETURNING `+domainColumns,
		tx.Org(), id.New(), host, use, hex.EncodeToString(token))
	if err != nil {
		return nil, fmt.Errorf("claim domain: %w", err)
	}

	if d, err = pgx.CollectExactlyOneRow(rows, scanDomain); err != nil {
		return nil, fmt.Errorf("claim domain: %w", err)
	}

	s.Audit(ctx, tx, Act{Action: "domain.claimed", Host: host})

	return d, nil
}

// Remove removes the domain of tx's org for a use, if it has one. The host is no longer served, and other orgs may
// claim it.
func (s *Domains) Remove(ctx context.Context, tx *postgres.Tx, use Use) error {
	d, err := s.findDomain(ctx, tx, "use = $2 FOR UPDATE", use)
	if err == nil && d != nil {
		s.removeDomain(ctx, tx, d, "asked")
	}
	return err
}

func (s *Domains) removeDomain(ctx context.Context, tx *postgres.Tx, d *Domain, why string) {
	tx.Queue(`UPDATE domain SET status = 'removed', removed_at = now() WHERE org_id = $1 AND id = $2`, tx.Org(), d.ID)
	s.Audit(ctx, tx,
		Act{Action: "domain.removed", Host: d.Host, Detail: map[string]any{"status": d.Status, "why": why}})
}

const keepSQL = `UPDATE domain SET status = $3, reason = $4, failures = $5, proven_at = $6, routed_at = $7,
	checked_at = $8, failed_at = $9, degraded_at = $10,
	suspended_at = $11, lost_at = $12, removed_at = $13, next_check_at = $14 WHERE org_id = $1 AND id = $2`

// Apply applies the result of a DNS check to a domain of tx's org. It writes the audit log and announces the new state
// if there is an event for it. It ignores a check that began before the last applied one, and a check of a removed
// domain. It returns the domain, or nil if it is removed.
func (s *Domains) Apply(ctx context.Context, tx *postgres.Tx, domain id.ID, look DNSCheck, entitled bool) (*Domain,
	error,
) {
	d, err := s.findDomain(ctx, tx, "id = $2 FOR UPDATE", domain)
	if err != nil || d == nil {
		return nil, err
	}

	if d.CheckedAt != nil && look.At.Before(*d.CheckedAt) {
		return d, nil
	}

	was := d.Standing
	err = tx.Savepoint(ctx, func() error {
		return s.updateStanding(ctx, tx, d,
			was.After(look, entitled))
	})
	if postgres.Violates(err, "domain_host") {
		look.Taken = true
		err = s.updateStanding(ctx, tx, d, was.After(look, entitled))
	}

	if err != nil {
		return nil, fmt.Errorf("update domain: %w", err)
	}

	if err := s.announceChange(ctx, tx, d, was.Status); err != nil {
		return nil, err
	}

	if d.Status == Removed {
		return nil, nil //nolint:nilnil // the org has none any more
	}

	return d, nil
}

func (s *Domains) updateStanding(ctx context.Context, tx *postgres.Tx, d *Domain,
	now Standing,
) error {
	d.Standing = now
	_, err := tx.Exec(ctx, keepSQL, tx.Org(), d.ID, now.Status, now.Reason, now.Failures, now.ProvenAt, now.RoutedAt,
		now.CheckedAt, now.FailedAt, now.DegradedAt,
		now.SuspendedAt, now.LostAt, now.RemovedAt, now.NextCheckAt)
	return err
}

// announceChange announces a change of state. A domain that comes into service is announced as verified, regardless of
// whether its host already points here; a change between verified and active is not announced.
func (s *Domains) announceChange(ctx context.Context, tx *postgres.Tx, d *Domain,
	was Status,
) error {
	if d.Status == was {
		return nil
	}

	s.Audit(ctx, tx,
		Act{
			Action: "domain." + string(d.Status), Host: d.Host,
			Detail: map[string]any{"from": was, "reason": d.Reason},
		})
	object := events.Domain{Domain: d.Host, Status: string(d.Status)}
	if d.Reason != "" {
		object.Reason = (*string)(&d.Reason)
	}

	well := func(s Status) bool { return s == Verified || s == Active }
	switch {
	case d.Status == Degraded:
		return events.Announce(ctx, tx, events.DomainDegraded{Domain: object})
	case well(d.Status) && !well(was):
		return events.Announce(ctx, tx, events.DomainVerified{Domain: object})
	default:
		return nil
	}
}

// Claimed is a domain that is due for a check.
type Claimed struct{ Org, Domain id.ID }

// due is the number of domains that one sweep claims. claimFor is how long a check may take before the domain is due
// again.
const (
	due      = 200
	claimFor = 5 * time.Minute
)

// A change of plan also makes a domain due: rights_seen is the version of the org's rights at the last check.
const dueSQL = `
WITH due AS (
	SELECT d.org_id, d.id, s.entitlement_version AS version
	FROM domain d JOIN subscription s ON s.org_id = d.org_id
	WHERE d.status <> 'removed' AND (d.next_check_at <= now() OR d.held AND d.rights_seen <> s.entitlement_version)
	ORDER BY d.next_check_at LIMIT $1 FOR UPDATE OF d SKIP LOCKED
)
UPDATE domain d SET next_check_at = now() + make_interval(secs => $2), rights_seen = due.version
FROM due WHERE d.org_id = due.org_id AND d.id = due.id RETURNING d.org_id, d.id`

// Sweep claims the domains that are due and calls ask to enqueue a job for each, in the same transaction.
func (s *Domains) Sweep(ctx context.Context, ask func(context.Context, *postgres.Tx, Claimed) error) (n int,
	err error,
) {
	err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, dueSQL, due, claimFor.Seconds())
		if err != nil {
			return fmt.Errorf("claim domains: %w", err)
		}

		claimed, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Claimed])
		if err != nil {
			return fmt.Errorf("claim domains: %w", err)
		}

		n = len(claimed)
		tx.Queue("SET CONSTRAINTS ALL IMMEDIATE")
		for _, c := range claimed {
			tx.Turn(c.Org)
			if err := ask(ctx, tx, c); err != nil {
				return err
			}
		}

		return nil
	})
	return n, err
}
