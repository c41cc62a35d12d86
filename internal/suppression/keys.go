package suppression

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Purposes of the hashes.
const (
	emailHash  = "suppression.email"
	domainHash = "suppression.domain"
)

// Service finds and keeps suppressions. It is safe for concurrent use.
type Service struct {
	Box *secret.Sealer // opens the keys of the orgs
}

// Keys has the hashes by which the suppressions of one address are found.
type Keys struct {
	Org      [][]byte // of the address and of its domain, by the org's key
	Platform [][]byte // likewise by the platform's key; empty if the platform suppresses nothing
	locks    []int64
}

// Keys returns the hashes of an address for the org of tx, which must be able to write: an org's key is created with
// its first use.
func (s *Service) Keys(ctx context.Context, tx *postgres.Tx, address string) (Keys, error) {
	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return Keys{}, err
	}
	return keysOf(tx.Org(), pair, address), nil
}

// QueueKeys queues what Keys reads. Once the statements of tx were sent, the function that it returns gives the hashes
// of an address. found is false if the org has no key yet, which Keys creates.
func (s *Service) QueueKeys(tx *postgres.Tx) func(address string) (k Keys, found bool, err error) {
	org := tx.Org()
	read := orgkey.QueueFind(tx, s.Box)
	return func(address string) (Keys, bool, error) {
		pair, err := read()
		if err != nil || pair.Org.IsZero() {
			return Keys{}, false, err
		}
		return keysOf(org, pair, address), true, nil
	}
}

func keysOf(org id.ID, pair orgkey.Pair, address string) Keys {
	k := hashesOf(pair, address)
	k.locks = append(k.locks, lockOf(org, k.Org[0]), lockOf(org, k.Org[1]))
	if !pair.Platform.IsZero() {
		k.locks = append(k.locks, lockOf(id.ID{}, k.Platform[0]), lockOf(id.ID{}, k.Platform[1]))
	}
	slices.Sort(k.locks)
	return k
}

// hashesOf is keysOf without the locks, for those who do not use Guard.
func hashesOf(pair orgkey.Pair, address string) Keys {
	email, domain := compare.SplitAddress(address)
	k := Keys{Org: [][]byte{pair.Org.Hash(emailHash, email), pair.Org.Hash(domainHash, domain)}, Platform: [][]byte{}}
	if !pair.Platform.IsZero() {
		k.Platform = [][]byte{pair.Platform.Hash(emailHash, email), pair.Platform.Hash(domainHash, domain)}
	}
	if lowered := lowerAddress(address, domain); lowered != email {
		k.Org = append(k.Org, pair.Org.Hash(emailHash, lowered))
		if !pair.Platform.IsZero() {
			k.Platform = append(k.Platform, pair.Platform.Hash(emailHash, lowered))
		}
	}
	return k
}

// lowerAddress returns the form in which addresses were hashed before their case was folded: ß stayed ß. The address of
// a suppression may be gone, so that its hash cannot be computed anew.
func lowerAddress(address, domain string) string {
	at := strings.LastIndexByte(address, '@')
	return norm.NFC.String(strings.ToLower(norm.NFC.String(address[:at+1]))) + domain
}

// Guard queues the locks that decide the order of a mail and of the suppressions of its address: those under way are
// awaited, and later ones wait for the end of tx. It must be queued before the statement with Blocked.
func (k Keys) Guard(tx *postgres.Tx) {
	tx.Queue(`SELECT pg_advisory_xact_lock_shared(k) FROM unnest($1::bigint[]) AS k`, k.locks)
}

// Blocked returns an SQL condition that is true if a suppression refuses a mail. The arguments are SQL: the org, the
// hashes of Keys as bytea[], and a boolean that is true for mail with the purpose marketing. They must not name
// columns, so that each list is looked up once.
func Blocked(org, own, platform, marketing string) string {
	return "(" + listedSQL(org, own, marketing) + " OR " +
		listedSQL("'00000000-0000-0000-0000-000000000000'::uuid", platform, marketing) + ")"
}

// listedSQL is apart for each org, because the index serves no condition that names two.
func listedSQL(org, hashes, marketing string) string {
	return `EXISTS (SELECT FROM suppression WHERE org_id = ` + org + ` AND hash = ANY (` + hashes + `)
		AND lifted_at IS NULL AND (purpose = 'all' OR ` + marketing + `))`
}

// parts is the number of parts of an org's hashes that are locked as one.
const parts = 64

// lockOf returns the advisory lock of the part of an org's hashes that hash belongs to.
func lockOf(org id.ID, hash []byte) int64 { return lockOfPart(org, hash[0]%parts) }

func lockOfPart(org id.ID, part byte) int64 {
	sum := sha256.Sum256(append([]byte("suppression/"+org.String()+"/"), part))
	return int64(binary.BigEndian.Uint64(sum[:])) // any 64 bits are a lock
}
