package branding

// Custom domains: the name under which an org's hosted pages are shown.
//
// # Who has a host
//
// A claim is a row; any number of orgs may claim one host, and none of them is served. What decides is a TXT record
// with the claim's own token, 128 random bits that are made anew for each claim: whoever shows it first to all
// resolvers holds the host, by a unique index over the claims with proof. A host that is held cannot be claimed by
// another org. It becomes free when its holder removes it, or when the proof has been gone for the whole of Grace and
// Quarantine; the next holder needs a token of its own, so that records which the old one left behind prove nothing.
// Removed claims are kept: they say who was shown under a host and when.
//
// # What is served
//
// A host is served in the states verified, active and degraded, and in no other. verified is the proof alone: the
// certificate can be had before traffic is led here. active has the proof, and the host leads here. degraded is either
// of them lost, three times in a row, by every resolver; it is served for Grace all the same, since a record that went
// missing by mistake should cost nobody a page. suspended is what comes of it, or of a plan without the feature. States
// move in After, which is pure; see there for the table.
//
// # What the DNS says
//
// Resolvers that disagree, and those that cannot be asked, never count against a domain: they move nothing, and are
// asked again. Looks that count as failures lie FailureGap apart, whoever asks for them.

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

// Act is something that the org's audit log holds.
type Act struct {
	Action string // domain.claimed, domain.verified, domain.active, domain.degraded, domain.suspended or domain.removed
	Host   string
	Detail map[string]any
}

// DomainOptions are what custom domains need from elsewhere.
type DomainOptions struct {
	// System sees the claims of all orgs.
	System *postgres.DB
	// Target is where hosts have to lead: the name that their CNAME has.
	Target string
	// Own are names that belong to the platform, with everything below them: nobody may claim them.
	Own []string
	// Views are the resolvers; all of them have to say the same.
	Views []View
	// Audit writes into the log of tx's org.
	Audit func(ctx context.Context, tx *postgres.Tx, act Act)
}

// Domains keeps the custom domains of all orgs.
type Domains struct{ DomainOptions }

// NewDomains does nothing yet.
func NewDomains(o DomainOptions) *Domains { return &Domains{o} }

// Domain is a claim as it is stored.
type Domain struct {
	ID    id.ID
	Host  string // lower case, punycode
	Token string // of its TXT record
	Standing
}

// Record is one that the owner has to set.
type Record struct {
	Type  string `json:"type" enum:"TXT,CNAME,A,AAAA" doc:"A or AAAA in place of CNAME where this service has an address and no name"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The TXT record's place below the host, and what stands before its token.
const (
	proofLabel  = "_funnelwork."
	proofPrefix = "funnelwork-verify="
)

// Records are those that d needs. They are the same for as long as the claim lasts.
func (s *Domains) Records(d *Domain) []Record {
	lead := "CNAME"
	if a, err := netip.ParseAddr(s.Target); err == nil {
		if lead = "AAAA"; a.Unmap().Is4() {
			lead = "A"
		}
	}
	return []Record{
		{Type: "TXT", Name: proofLabel + d.Host, Value: proofPrefix + d.Token},
		{Type: lead, Name: d.Host, Value: s.Target},
	}
}

const domainColumns = `id, host, token, status, reason, failures, claimed_at, proven_at, routed_at, checked_at, failed_at, degraded_at,
	suspended_at, lost_at, removed_at, next_check_at`

func scanDomain(row pgx.CollectableRow) (*Domain, error) {
	d := &Domain{}
	err := row.Scan(&d.ID, &d.Host, &d.Token, &d.Status, &d.Reason, &d.Failures, &d.ClaimedAt, &d.ProvenAt, &d.RoutedAt, &d.CheckedAt, &d.FailedAt,
		&d.DegradedAt, &d.SuspendedAt, &d.LostAt, &d.RemovedAt, &d.NextCheckAt)
	return d, err
}

// Get is the domain of tx's org; nil where it has none.
func (s *Domains) Get(ctx context.Context, tx *postgres.Tx) (*Domain, error) {
	return s.find(ctx, tx, "")
}

func (s *Domains) find(ctx context.Context, tx *postgres.Tx, lock string) (*Domain, error) {
	rows, err := tx.Query(ctx, `SELECT `+domainColumns+` FROM domain WHERE org_id = $1 AND status <> 'removed'`+lock, tx.Org())
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

// Held refuses, with domain_taken, a host that another org holds by proof. It asks beforehand, for the caller's sake;
// what decides is the unique index when somebody has proof.
func (s *Domains) Held(ctx context.Context, host string, by id.ID) error {
	var taken bool
	err := s.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM domain WHERE host = $1 AND held AND org_id <> $2)`, []any{host, by}, &taken)
	})
	if err != nil {
		return fmt.Errorf("look for the host: %w", err)
	}
	if taken {
		return fault.New(fault.DomainTaken, "Another organization has this domain, and its DNS records prove it. Remove it there first.")
	}
	return nil
}

// Claim makes host, which Host has read, the domain of tx's org. Claiming what it has already changes nothing; another
// host takes the place of the one before, which is no longer served.
func (s *Domains) Claim(ctx context.Context, tx *postgres.Tx, host string) (*Domain, error) {
	// Two claims of one org wait for each other, so that none is left over.
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('domain ' || $1::text, 0))`, tx.Org().String())
	d, err := s.find(ctx, tx, " FOR UPDATE")
	if err != nil || d != nil && d.Host == host {
		return d, err
	}
	if d != nil {
		s.remove(ctx, tx, d, "replaced")
	}
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	rows, err := tx.Query(ctx, `INSERT INTO domain (org_id, id, host, token) VALUES ($1, $2, $3, $4) RETURNING `+domainColumns,
		tx.Org(), id.New(), host, hex.EncodeToString(token))
	if err != nil {
		return nil, fmt.Errorf("claim domain: %w", err)
	}
	if d, err = pgx.CollectExactlyOneRow(rows, scanDomain); err != nil {
		return nil, fmt.Errorf("claim domain: %w", err)
	}
	s.Audit(ctx, tx, Act{Action: "domain.claimed", Host: host})
	return d, nil
}

// Remove ends the domain of tx's org, if it has one. It is served no longer, and free for others.
func (s *Domains) Remove(ctx context.Context, tx *postgres.Tx) error {
	d, err := s.find(ctx, tx, " FOR UPDATE")
	if err == nil && d != nil {
		s.remove(ctx, tx, d, "asked")
	}
	return err
}

func (s *Domains) remove(ctx context.Context, tx *postgres.Tx, d *Domain, why string) {
	tx.Queue(`UPDATE domain SET status = 'removed', removed_at = now() WHERE org_id = $1 AND id = $2`, tx.Org(), d.ID)
	s.Audit(ctx, tx, Act{Action: "domain.removed", Host: d.Host, Detail: map[string]any{"status": d.Status, "why": why}})
}

const keepSQL = `UPDATE domain SET status = $3, reason = $4, failures = $5, proven_at = $6, routed_at = $7, checked_at = $8, failed_at = $9, degraded_at = $10,
	suspended_at = $11, lost_at = $12, removed_at = $13, next_check_at = $14 WHERE org_id = $1 AND id = $2`

// Apply lets a look at a domain of tx's org take effect, with what follows from it: events, one for each entry into a
// state that has one, and the audit log. A look that began before the last one that was applied says nothing new, and
// one at a domain that is gone says nothing. It answers the domain; nil where it is gone.
func (s *Domains) Apply(ctx context.Context, tx *postgres.Tx, domain id.ID, look Look, entitled bool) (*Domain, error) {
	d, err := s.find(ctx, tx, " FOR UPDATE")
	if err != nil || d == nil || d.ID != domain {
		return nil, err
	}
	if d.CheckedAt != nil && look.At.Before(*d.CheckedAt) {
		return d, nil
	}
	was := d.Standing
	err = tx.Savepoint(ctx, func() error { return s.keep(ctx, tx, d, was.After(look, entitled)) })
	if postgres.Violates(err, "domain_host") {
		look.Taken = true
		err = s.keep(ctx, tx, d, was.After(look, entitled))
	}
	if err != nil {
		return nil, fmt.Errorf("keep domain: %w", err)
	}
	if err := s.announce(ctx, tx, d, was.Status); err != nil {
		return nil, err
	}
	if d.Status == Removed {
		return nil, nil //nolint:nilnil // the org has none any more
	}
	return d, nil
}

func (s *Domains) keep(ctx context.Context, tx *postgres.Tx, d *Domain, now Standing) error {
	d.Standing = now
	_, err := tx.Exec(ctx, keepSQL, tx.Org(), d.ID, now.Status, now.Reason, now.Failures, now.ProvenAt, now.RoutedAt, now.CheckedAt, now.FailedAt, now.DegradedAt,
		now.SuspendedAt, now.LostAt, now.RemovedAt, now.NextCheckAt)
	return err
}

// announce tells of an entry into a state. A domain that comes into service is verified, whether its host leads here
// already or not; one that passes between verified and active was so before.
func (s *Domains) announce(ctx context.Context, tx *postgres.Tx, d *Domain, was Status) error {
	if d.Status == was {
		return nil
	}
	s.Audit(ctx, tx, Act{Action: "domain." + string(d.Status), Host: d.Host, Detail: map[string]any{"from": was, "reason": d.Reason}})
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

// Claimed is a domain whose time for a look has come.
type Claimed struct{ Org, Domain id.ID }

// due is how many domains one sweep has looked at, and claimFor how long a look may take before it is asked for again.
const (
	due      = 200
	claimFor = 5 * time.Minute
)

// A plan that changed is looked at as well, before the domain's own time: rights_seen is the version of the org's rights
// that the last look was claimed under.
const dueSQL = `
WITH due AS (
	SELECT d.org_id, d.id, s.entitlement_version AS version
	FROM domain d JOIN subscription s ON s.org_id = d.org_id
	WHERE d.status <> 'removed' AND (d.next_check_at <= now() OR d.held AND d.rights_seen <> s.entitlement_version)
	ORDER BY d.next_check_at LIMIT $1 FOR UPDATE OF d SKIP LOCKED
)
UPDATE domain d SET next_check_at = now() + make_interval(secs => $2), rights_seen = due.version
FROM due WHERE d.org_id = due.org_id AND d.id = due.id RETURNING d.org_id, d.id`

// Sweep claims the domains that are due, and has ask leave a job for each in the same transaction.
func (s *Domains) Sweep(ctx context.Context, ask func(context.Context, *postgres.Tx, Claimed) error) (n int, err error) {
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
