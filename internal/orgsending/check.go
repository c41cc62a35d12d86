package orgsending

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/net/publicsuffix"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/dkim"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Times of the checks.
const (
	soonest   = time.Minute // after a domain was added
	hourly    = time.Hour
	checkTime = 7 * time.Second // of all look-ups of one domain
	claimFor  = 5 * time.Minute // within which a claimed domain is not claimed again
	failGap   = 5 * time.Minute // the least between two checks that count as failures
)

// maxFailures is the number of checks in a row without a key at which a verified domain has failed.
const maxFailures = 3

// Findings of a record beside found.
const (
	missing = "missing"
	invalid = "invalid" // several where one is allowed
	unknown = "unknown" // the look-up failed
)

// Check is the result of a look-up of a domain's records.
type Check struct {
	At         time.Time
	Keys       map[id.ID]string // found, missing or unknown
	SPF, DMARC string
}

// Check looks up the records of d.
func (s *Domains) Check(ctx context.Context, d *Domain) *Check {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	c := &Check{At: time.Now(), Keys: make(map[id.ID]string, len(d.Keys))}
	keys := make([]string, len(d.Keys))
	var all sync.WaitGroup
	for i, k := range d.Keys {
		all.Go(func() { keys[i] = s.key(ctx, dkim.Name(k.Selector, d.Name), k.Public) })
	}
	all.Go(func() { c.SPF = s.version(ctx, d.Name, "v=spf1") })
	all.Go(func() { c.DMARC = s.dmarc(ctx, d.Name) })
	all.Wait()
	for i, k := range d.Keys {
		c.Keys[k.ID] = keys[i]
	}
	return c
}

// key returns whether a record has the key. Some DNS forms keep pasted quotes and spaces in the value.
func (s *Domains) key(ctx context.Context, name, public string) string {
	texts, err := s.Texts(ctx, name)
	if err != nil {
		return unknown
	}
	for _, text := range texts {
		text = strings.NewReplacer(" ", "", "\t", "", `"`, "").Replace(text)
		for tag := range strings.SplitSeq(text, ";") {
			if value, ok := strings.CutPrefix(tag, "p="); ok && value == public {
				return found
			}
		}
	}
	return missing
}

// version returns whether a name has one record that begins with a version.
func (s *Domains) version(ctx context.Context, name, version string) string {
	texts, err := s.Texts(ctx, name)
	if err != nil {
		return unknown
	}
	n := 0
	for _, text := range texts {
		text = strings.ToLower(strings.TrimSpace(text))
		if text == version || strings.HasPrefix(text, version+" ") || strings.HasPrefix(text, version+";") {
			n++
		}
	}
	switch n {
	case 0:
		return missing
	case 1:
		return found
	default:
		return invalid
	}
}

// dmarc returns whether the domain has a policy, or the one that it is registered under has.
func (s *Domains) dmarc(ctx context.Context, domain string) string {
	result := s.version(ctx, "_dmarc."+domain, "v=dmarc1")
	if above, err := publicsuffix.EffectiveTLDPlusOne(domain); result == missing && err == nil && above != domain {
		return s.version(ctx, "_dmarc."+above, "v=dmarc1")
	}
	return result
}

// Change is what a check has changed.
type Change struct {
	*Domain
	Was string // the status before
}

// Apply stores the result of a check of a domain of the org of tx. A check that began before the last one that was
// stored changes nothing. The error is a not_found fault if the domain was removed.
func (s *Domains) Apply(ctx context.Context, tx *postgres.Tx, domain id.ID, c *Check) (*Change, error) {
	lockDomains(tx)
	d, err := GetDomain(ctx, tx, domain)
	if err != nil {
		return nil, err
	}
	was := d.Status
	if d.CheckedAt != nil && c.At.Before(*d.CheckedAt) {
		return &Change{d, was}, nil
	}
	d.after(c)
	tx.Queue(`UPDATE sending_domain SET status = $3, spf = $4, dmarc = $5, failures = $6, verified_at = $7,
			checked_at = $8, next_check_at = $9
		WHERE org_id = $1 AND id = $2`, tx.Org(), d.ID, d.Status, d.SPF, d.DMARC, d.Failures, d.VerifiedAt, d.CheckedAt,
		d.next(c.At))
	kept := make([]id.ID, len(d.Keys))
	for i, k := range d.Keys {
		kept[i] = k.ID
		tx.Queue(`UPDATE sending_key SET found = $3 WHERE org_id = $1 AND id = $2 AND found <> $3`, tx.Org(), k.ID,
			k.Found)
	}
	tx.Queue(`DELETE FROM sending_key WHERE org_id = $1 AND domain_id = $2 AND id <> ALL ($3::uuid[])`, tx.Org(), d.ID,
		kept)
	if d.Status == Verified {
		mailboxes.SignedDomain(tx, d.Name)
	}
	return &Change{d, was}, nil
}

// after changes d as the check says. It touches no database.
func (d *Domain) after(c *Check) {
	at := wire.At(c.At).Time
	counts := d.CheckedAt == nil || at.Sub(*d.CheckedAt) >= failGap
	d.CheckedAt = &at
	d.SPF, d.DMARC = known(c.SPF, d.SPF), known(c.DMARC, d.DMARC)
	signs, answered := false, true
	for i := range d.Keys {
		k := &d.Keys[i]
		switch c.Keys[k.ID] {
		case found:
			k.Found = true
		case missing:
			k.Found = false
		default: // the look-up failed, or the key is newer than the check
			answered = false
		}
		signs = signs || k.Found
		if k.Found {
			d.Keys = d.Keys[:i+1] // older keys are not needed any more
			break
		}
	}
	switch {
	case signs:
		d.Failures = 0
		if d.Status != Verified {
			d.Status, d.VerifiedAt = Verified, &at
		}
	case answered && counts && d.Status == Verified:
		if d.Failures++; d.Failures >= maxFailures {
			d.Status = Failed
		}
	}
}

// known returns a finding, or the one before if the look-up failed.
func known(now, before string) string {
	if now == unknown {
		return before
	}
	return now
}

// next returns the time of the next check: after a quarter of the age of a domain that waits for a record, between a
// minute and an hour, and every hour otherwise.
func (d *Domain) next(now time.Time) time.Time {
	if d.Status == Verified && d.Keys[0].Found {
		return now.Add(hourly)
	}
	return now.Add(min(max(now.Sub(d.CreatedAt)/4, soonest), hourly))
}

// Claimed is a domain that is due for a check.
type Claimed struct{ Org, Domain id.ID }

const claimSQL = `
UPDATE sending_domain d SET next_check_at = now() + make_interval(secs => $2)
FROM (
	SELECT org_id, id FROM sending_domain WHERE next_check_at <= now()
	ORDER BY next_check_at LIMIT $1 FOR UPDATE SKIP LOCKED
) due
WHERE d.org_id = due.org_id AND d.id = due.id RETURNING d.org_id, d.id`

// Claim returns at most limit domains that are due for a check. system runs as the System role.
func Claim(ctx context.Context, system *postgres.Tx, limit int) ([]Claimed, error) {
	rows, err := system.Query(ctx, claimSQL, limit, claimFor.Seconds())
	if err != nil {
		return nil, fmt.Errorf("claim sending domains: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Claimed])
	if err != nil {
		return nil, fmt.Errorf("claim sending domains: %w", err)
	}
	return all, nil
}

// moment returns a time in its wire form, or nil if t is nil.
func moment(t *time.Time) *wire.Time {
	if t == nil {
		return nil
	}
	at := wire.At(*t)
	return &at
}
