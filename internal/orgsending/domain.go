package orgsending

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/outreach/dkim"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// States of a sending domain.
const (
	Pending  = "pending"
	Verified = "verified"
	Failed   = "failed"
)

// maxDomains is the number of sending domains that an org may have.
const maxDomains = 20

const absent = "There is no such sending domain."

// Domains keeps the domains that orgs send from. It is safe for concurrent use.
type Domains struct {
	Box *secret.Sealer // seals private keys
	// Texts returns the TXT records at a name. An error says nothing about the records.
	Texts func(ctx context.Context, name string) ([]string, error)
}

// Domain is a domain that an org sends from.
type Domain struct {
	ID         id.ID
	Name       string
	Status     string
	SPF, DMARC string // pass, missing, invalid or unknown
	Failures   int
	CreatedAt  time.Time
	VerifiedAt *time.Time
	CheckedAt  *time.Time
	Keys       []Key  // newest first
	Relays     string // the mechanisms of SPF for the org's mailboxes of the domain
}

// Key is a key of a domain without its private part.
type Key struct {
	ID               id.ID
	Selector, Public string
	Found            bool // by the last check that got an answer
}

// NewKey is a new key that is not stored yet. Making one takes a tenth of a second, so it is made outside transactions.
type NewKey struct {
	private []byte
	public  string
}

// MakeKey returns a new key.
func MakeKey() (*NewKey, error) {
	private, public, err := dkim.NewKey()
	if err != nil {
		return nil, err
	}
	return &NewKey{private, public}, nil
}

const domainsSQL = `
SELECT d.id, d.domain, d.status, d.spf, d.dmarc, d.failures, d.created_at, d.verified_at, d.checked_at,
	k.ids, k.selectors, k.publics, k.found,
	(SELECT coalesce(array_agg(DISTINCT m.kind || ' ' || m.smtp_host), '{}') FROM mailbox m
		WHERE m.org_id = d.org_id AND m.from_domain = d.domain AND m.archived_at IS NULL)
FROM sending_domain d CROSS JOIN LATERAL (
	SELECT array_agg(k.id ORDER BY k.created_at DESC) AS ids,
		array_agg(k.selector ORDER BY k.created_at DESC) AS selectors,
		array_agg(k.public_key ORDER BY k.created_at DESC) AS publics,
		array_agg(k.found ORDER BY k.created_at DESC) AS found
	FROM sending_key k WHERE k.org_id = d.org_id AND k.domain_id = d.id
) k
WHERE d.org_id = $1 AND `

func scanDomain(row pgx.CollectableRow) (*Domain, error) {
	var (
		d                  Domain
		ids                []id.ID
		selectors, publics []string
		found              []bool
		servers            []string
	)
	err := row.Scan(&d.ID, &d.Name, &d.Status, &d.SPF, &d.DMARC, &d.Failures, &d.CreatedAt, &d.VerifiedAt,
		&d.CheckedAt, &ids, &selectors, &publics, &found, &servers)
	for i := range ids {
		d.Keys = append(d.Keys, Key{ids[i], selectors[i], publics[i], found[i]})
	}
	d.Relays = mechanisms(servers)
	return &d, err
}

func query(ctx context.Context, tx *postgres.Tx, where string, args ...any) ([]*Domain, error) {
	rows, err := tx.Query(ctx, domainsSQL+where, append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read sending domains: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanDomain)
	if err != nil {
		return nil, fmt.Errorf("read sending domains: %w", err)
	}
	return all, nil
}

// ListDomains returns the sending domains of the org of tx by name.
func ListDomains(ctx context.Context, tx *postgres.Tx) ([]*Domain, error) {
	return query(ctx, tx, "true ORDER BY d.domain")
}

// FindDomain returns a sending domain of the org of tx by its name, or a not_found fault.
func FindDomain(ctx context.Context, tx *postgres.Tx, name string) (*Domain, error) {
	return one(query(ctx, tx, "d.domain = $2", name))
}

// GetDomain is FindDomain by id.
func GetDomain(ctx context.Context, tx *postgres.Tx, domain id.ID) (*Domain, error) {
	return one(query(ctx, tx, "d.id = $2", domain))
}

func one(all []*Domain, err error) (*Domain, error) {
	if err == nil && len(all) == 0 {
		err = fault.New(fault.NotFound, absent)
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// lockDomains serialises the changes of an org's sending domains until the end of tx. It is a statement of its own: one
// that waits for a lock would read the rows as of before the wait.
func lockDomains(tx *postgres.Tx) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('sending_domain ' || $1::text, 0))`, tx.Org().String())
}

// Add adds a domain with its first key, and reports whether the org had it not yet. name is normalised already.
func (s *Domains) Add(ctx context.Context, tx *postgres.Tx, name string, key *NewKey) (*Domain, bool, error) {
	lockDomains(tx)
	all, err := ListDomains(ctx, tx)
	if err != nil {
		return nil, false, err
	}
	for _, d := range all {
		if d.Name == name {
			return d, false, nil
		}
	}
	if len(all) >= maxDomains {
		return nil, false, fault.Invalid("domain", "too_many",
			fmt.Sprintf("An organization has at most %d sending domains. Remove one first.", maxDomains))
	}
	domain, now := id.New(), wire.Now()
	tx.Queue(`INSERT INTO sending_domain (org_id, id, domain, status, created_at, next_check_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, tx.Org(), domain, name, Pending, now, now.Add(soonest))
	if err := s.addKey(tx, domain, key, now); err != nil {
		return nil, false, err
	}
	d, err := GetDomain(ctx, tx, domain)
	return d, true, err
}

// Rotate adds a new key to a domain. The old one signs until the record of the new one is found. If a new key waits for
// its record already, Rotate changes nothing. It reports whether it added the key.
func (s *Domains) Rotate(ctx context.Context, tx *postgres.Tx, name string, key *NewKey) (*Domain, bool, error) {
	lockDomains(tx)
	d, err := FindDomain(ctx, tx, name)
	if err != nil || !d.Keys[0].Found {
		return d, false, err
	}
	if err := s.addKey(tx, d.ID, key, wire.Now()); err != nil {
		return nil, false, err
	}
	tx.Queue(`UPDATE sending_domain SET next_check_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), d.ID,
		time.Now().Add(soonest))
	d, err = GetDomain(ctx, tx, d.ID)
	return d, true, err
}

// addKey queues storing a key under a selector that is not used yet.
func (s *Domains) addKey(tx *postgres.Tx, domain id.ID, key *NewKey, now wire.Time) error {
	i, random := id.New(), make([]byte, 5)
	_, _ = rand.Read(random) // never fails
	sealed, err := s.Box.Seal(key.private, aboutKey(tx.Org(), i))
	if err != nil {
		return fmt.Errorf("seal key: %w", err)
	}
	tx.Queue(`INSERT INTO sending_key (org_id, id, domain_id, selector, sealed, public_key, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, tx.Org(), i, domain, "fw"+hex.EncodeToString(random), sealed, key.public,
		now)
	return nil
}

// Remove removes a domain with its keys. Mail from it is not signed any more. The error is a not_found fault if there
// is none.
func Remove(ctx context.Context, tx *postgres.Tx, name string) (*Domain, error) {
	lockDomains(tx)
	d, err := FindDomain(ctx, tx, name)
	if err != nil {
		return nil, err
	}
	tx.Queue(`DELETE FROM sending_key WHERE org_id = $1 AND domain_id = $2`, tx.Org(), d.ID)
	tx.Queue(`DELETE FROM sending_domain WHERE org_id = $1 AND id = $2`, tx.Org(), d.ID)
	return d, nil
}

// sealedKey is the column with the sealed private keys.
const sealedKey = "sealed"

// Sealed lists the column with sealed private keys.
func Sealed() []keyring.Column {
	return []keyring.Column{{
		Table: "sending_key", Name: sealedKey, Key: keyring.OrgAndID(), About: keyring.ByOrgAndID("sending_key"),
	}}
}

// aboutKey returns the context that a private key is bound to.
func aboutKey(org, key id.ID) string {
	return keyring.ByOrgAndID("sending_key")([]string{org.String(), key.String()})
}
