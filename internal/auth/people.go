package auth

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// User is a person, as the API shows them.
type User struct {
	ID        id.ID  `json:"id" format:"uuid"`
	Email     string `json:"email"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}

// FoldEmail is the form in which addresses are compared: one address, one person.
func FoldEmail(email string) string {
	return strings.ToLower(norm.NFC.String(strings.TrimSpace(email)))
}

// CheckEmail refuses what cannot be an address that mail is sent to. field is its place in the request.
func CheckEmail(field, email string) error {
	local, domain, ok := strings.Cut(email, "@")
	wrong := !ok || local == "" || len(local) > 64 || len(domain) < 3 || len(email) > 254 ||
		strings.ContainsAny(email, " \t\r\n\"(),:;<>[\\]") || strings.Contains(domain, "@") ||
		!strings.Contains(strings.Trim(domain, "."), ".") || strings.Contains(domain, "..") ||
		strings.HasPrefix(domain, ".") || strings.HasSuffix(domain, ".") || strings.HasPrefix(domain, "-")
	if wrong || strings.ContainsFunc(email, form.NotInLine) || !utf8.ValidString(email) {
		return fault.Invalid(field, "invalid_email", "This is no mail address.")
	}
	return nil
}

// nameMax is how long a first or last name may be, in characters.
const nameMax = 100

// CheckPersonName refuses a first or last name that is too long or not of one line; an empty one is allowed. field is its
// place in the request.
func CheckPersonName(field, name string) error {
	if utf8.RuneCountInString(name) > nameMax {
		return fault.Invalid(field, "too_long", fmt.Sprintf("A name has at most %d characters.", nameMax))
	}
	return form.CheckLine(field, name)
}

// NewUser is a person to be.
type NewUser struct {
	ID                  id.ID
	Email               string
	PasswordHash        string
	FirstName, LastName string
	LastOrg             id.ID
	Verified            bool // the address is proven to be theirs
}

// AddUser writes a person in tx, which runs as System. A known address makes the transaction fail with what
// EmailTaken recognises.
func AddUser(tx *postgres.Tx, u NewUser) {
	tx.Queue(`
		INSERT INTO app_user (id, email, email_folded, password_hash, first_name, last_name, last_org_id, verified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN now() END)`,
		u.ID, u.Email, FoldEmail(u.Email), u.PasswordHash, u.FirstName, u.LastName, u.LastOrg, u.Verified)
}

// Rename changes the names of a person that are set.
func (s *Service) Rename(ctx context.Context, user id.ID, first, last wire.Field[string]) error {
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE app_user SET first_name = CASE WHEN $2 THEN $3 ELSE first_name END,
			last_name = CASE WHEN $4 THEN $5 ELSE last_name END WHERE id = $1`, user, first.Set, first.Value, last.Set, last.Value)
		return nil
	})
	if err != nil {
		return fmt.Errorf("rename person: %w", err)
	}
	return nil
}

// EmailTaken tells whether err means that another person has the address.
func EmailTaken(err error) bool { return postgres.Violates(err, "app_user_email_folded_key") }

// account is what a login reads about a person.
type account struct {
	User
	hash    string
	lastOrg id.ID
}

// accountOf finds a person by address; a zero account where there is none.
func (s *Service) accountOf(ctx context.Context, email string) (account, error) {
	var a account
	err := s.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id, email, first_name, last_name, password_hash, last_org_id FROM app_user WHERE email_folded = $1`,
			[]any{FoldEmail(email)}, &a.ID, &a.Email, &a.FirstName, &a.LastName, &a.hash, &a.lastOrg)
		if postgres.None(err) {
			return nil
		}
		return err
	})
	return a, err
}

// Known tells whether a person with that address exists. It is for flows that hold a proof of the address,
// such as an invitation's token; nobody else may learn it.
func (s *Service) Known(ctx context.Context, email string) (bool, error) {
	a, err := s.accountOf(ctx, email)
	return a.hash != "", err
}
