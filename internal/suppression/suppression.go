package suppression

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kinds of what is suppressed.
const (
	Email  = "email"
	Domain = "domain"
)

// Purposes of the mail that is refused.
const (
	Marketing = "marketing"
	All       = "all"
)

// Reasons.
const (
	Unsubscribe = "unsubscribe"
	Complaint   = "complaint"
	HardBounce  = "hard_bounce"
	Manual      = "manual"
)

// Suppression is an address or a domain that the org does not write to.
type Suppression struct {
	ID         id.ID      `json:"id" format:"uuid" doc:"ID of the suppression"`
	Kind       string     `json:"kind" enum:"email,domain" doc:"What is suppressed"`
	Email      *string    `json:"email" doc:"The address; null for a domain, and after its contact was purged"`
	Domain     *string    `json:"domain" doc:"The domain, with every address of it; null for an address"`
	Purpose    string     `json:"purpose" enum:"marketing,all"`
	Reason     string     `json:"reason" enum:"unsubscribe,complaint,hard_bounce,manual" doc:"Why it is suppressed"`
	Source     string     `json:"source" doc:"What created it, such as api, import or bounce"`
	Note       string     `json:"note" doc:"What a person added about the reason"`
	CreatedAt  wire.Time  `json:"created_at" format:"date-time" doc:"When it was created"`
	LiftedAt   *wire.Time `json:"lifted_at" format:"date-time" doc:"When it was lifted; null: it is in force"`
	LiftReason *string    `json:"lift_reason" doc:"Why it was lifted; null: it is in force"`

	// Who created and who lifted it: "user/<id>", "operator/<name>" or "".
	By, LiftedBy string `json:"-"`
}

// Descriptions implements wire.Describer.
func (Suppression) Descriptions() map[string]string {
	return map[string]string{
		"purpose": "marketing: sequences, broadcasts and one-to-one mail with that purpose; all: every mail of the org",
	}
}

// New describes a new suppression of an address or of a domain.
type New struct {
	Email, Domain string // exactly one
	Purpose       string
	Reason        string
	Source        string
	Note          string
	By            string // who suppresses it, for the log: "user/<id>", or ""
}

const columns = `id, kind, address, purpose, reason, source, note, created_at, lifted_at, lift_reason, created_by,
	lifted_by`

func scanRow(row pgx.CollectableRow) (s Suppression, err error) {
	var (
		address *string
		lifted  string
	)
	err = row.Scan(&s.ID, &s.Kind, &address, &s.Purpose, &s.Reason, &s.Source, &s.Note, &s.CreatedAt, &s.LiftedAt,
		&lifted, &s.By, &s.LiftedBy)
	if s.Kind == Domain {
		s.Domain = address
	} else {
		s.Email = address
	}
	if s.LiftedAt != nil {
		s.LiftReason = &lifted
	}

	return s, err
}

// Add suppresses an address or a domain for the org of tx, and returns the suppression. If one with the same purpose is
// in force, it is returned unchanged, and added is false. The caller has validated n.
func (s *Service) Add(ctx context.Context, tx *postgres.Tx, n New) (out Suppression, added bool, err error) {
	pair, err := orgkey.Of(ctx, tx, s.Box)
	if err != nil {
		return out, false, err
	}
	out, added, err = s.addOne(ctx, tx, pair, n)
	return out, added, err
}

func (s *Service) addOne(ctx context.Context, tx *postgres.Tx, pair orgkey.Pair, n New) (out Suppression, added bool,
	err error,
) {
	kind, shown, hash := hashKey(pair.Org, n)
	tx.Queue(`SELECT pg_advisory_xact_lock($1)`, lockOf(tx.Org(), hash))
	if out, err = readOne(ctx, tx, `
		INSERT INTO suppression (org_id, id, kind, hash, address, purpose, reason, source, note, created_at, created_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (org_id, hash, purpose) WHERE lifted_at IS NULL DO NOTHING
		RETURNING `+columns, tx.Org(), id.New(), kind, hash, shown, n.Purpose, n.Reason, n.Source, n.Note, wire.Now(),
		n.By); err != nil && !postgres.None(err) {
		return out, false, err
	} else if err == nil {
		return out, true, endEnrolments(ctx, tx, []New{n})
	}
	out, err = readOne(ctx, tx, `SELECT `+columns+` FROM suppression
		WHERE org_id = $1 AND hash = $2 AND purpose = $3 AND lifted_at IS NULL`, tx.Org(), hash, n.Purpose)
	return out, false, err
}

// hashKey returns the kind of n, the address or domain as it is shown, and its hash.
func hashKey(key orgkey.Key, n New) (kind, shown string, hash []byte) {
	if n.Domain != "" {
		shown = compare.Domain(n.Domain)
		return Domain, shown, key.Hash(domainHash, shown)
	}
	folded := compare.Address(n.Email)
	return Email, n.Email, key.Hash(emailHash, folded)
}

// readOne returns the row of a query. An absent row is the error of postgres.None.
func readOne(ctx context.Context, tx *postgres.Tx, sql string, args ...any) (Suppression, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return Suppression{}, fmt.Errorf("suppression: %w", err)
	}
	out, err := pgx.CollectExactlyOneRow(rows, scanRow)
	if err != nil {
		return out, fmt.Errorf("suppression: %w", err)
	}
	return out, nil
}

// Find returns the suppression that refuses a mail to the address of keys, or nil. marketing is true for mail with that
// purpose. Of several, one of the org itself comes first.
func Find(ctx context.Context, tx *postgres.Tx, k Keys, marketing bool) (*Suppression, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM suppression
		WHERE lifted_at IS NULL AND (purpose = 'all' OR $4)
		AND (org_id = $1 AND hash = ANY ($2) OR org_id = '00000000-0000-0000-0000-000000000000' AND hash = ANY ($3))
		ORDER BY org_id DESC, purpose, created_at, id LIMIT 1`, tx.Org(), k.Org, k.Platform, marketing)
	if err != nil {
		return nil, fmt.Errorf("find suppression: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Reasons returns the reasons of a suppression.
func Reasons() []string { return slices.Clone([]string{Unsubscribe, Complaint, HardBounce, Manual}) }
