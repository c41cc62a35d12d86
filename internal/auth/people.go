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

// User is a user as the API shows it.
type User struct {
	ID        id.ID  `json:"id" format:"uuid" doc:"ID of the user"`
	Email     string `json:"email" doc:"Address with which the user logs in"`
	FirstName string `json:"first_name" doc:"First name; may be empty"`
	LastName  string `json:"last_name" doc:"Last name; may be empty"`
}

// FoldEmail returns the form in which addresses are compared: one address, one user.
func FoldEmail(email string) string {
	return strings.ToLower(norm.NFC.String(strings.TrimSpace(email)))
}

// CheckEmail rejects an address that cannot receive mail. field is its place in the request.
func CheckEmail(field, email string) error {
	if !form.IsEmail(email) {
		return fault.Invalid(field, "invalid_email", "This is no mail address.")
	}
	return nil
}

// nameMax is the maximum length of a first or last name, in characters.
const nameMax = 100

// CheckPersonName rejects a first or last name that is too long or has several lines. An empty name is allowed. field
// is its place in the request.
func CheckPersonName(field, name string) error {
	if utf8.RuneCountInString(name) > nameMax {
		return fault.Invalid(field, "too_long", fmt.Sprintf("A name has at most %d characters.", nameMax))
	}
	return form.CheckLine(field, name)
}

// NewUser is the input of AddUser.
type NewUser struct {
	ID                  id.ID
	Email               string
	PasswordHash        string
	FirstName, LastName string
	LastOrg             id.ID
	Verified            bool // the user proved ownership of the address
}

// AddUser inserts a user. tx runs as System. If the address is taken, the transaction fails with an error that
// EmailTaken recognizes.
func AddUser(tx *postgres.Tx, u NewUser) {
	tx.Queue(`
		INSERT INTO app_user (id, email, email_folded, password_hash, first_name, last_name, last_org_id, verified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN now() END)`,
		u.ID, u.Email, FoldEmail(u.Email), u.PasswordHash, u.FirstName, u.LastName, u.LastOrg, u.Verified)
}

// Rename changes the names of a user that are set.
func (s *Service) Rename(ctx context.Context, user id.ID, first, last wire.Field[string]) error {
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE app_user SET first_name = CASE WHEN $2 THEN $3 ELSE first_name END,
			last_name = CASE WHEN $4 THEN $5 ELSE last_name END WHERE id = $1`, user, first.Set, first.Value,
			last.Set, last.Value)
		return nil
	})
	if err != nil {
		return fmt.Errorf("rename person: %w", err)
	}

	return nil
}

// EmailTaken reports whether err means that another user has the address.
func EmailTaken(err error) bool { return postgres.Violates(err, "app_user_email_folded_key") }

// account is the part of a user that a login reads.
type account struct {
	User
	hash     string
	lastOrg  id.ID
	disabled bool
}

// accountOf returns the account with this address; a zero account if there is none.
func (s *Service) accountOf(ctx context.Context, email string) (account, error) {
	var a account
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		err := tx.QueryRow(ctx,
			`SELECT id, email, first_name, last_name, password_hash, last_org_id, disabled_at IS NOT NULL
			FROM app_user WHERE email_folded = $1`,
			[]any{FoldEmail(email)}, &a.ID, &a.Email, &a.FirstName, &a.LastName, &a.hash, &a.lastOrg, &a.disabled)
		if postgres.None(err) {
			return nil
		}
		return err
	})

	return a, err
}

// Known reports whether a user with that address exists. Only flows with a proof of the address, such as an
// invitation's token, may use or reveal it.
func (s *Service) Known(ctx context.Context, email string) (bool, error) {
	a, err := s.accountOf(ctx, email)
	return a.hash != "", err
}
