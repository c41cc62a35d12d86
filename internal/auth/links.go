package auth

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Purpose is what a mailed link allows, once.
type Purpose string

// The purposes.
const (
	ResetPassword Purpose = "reset_password" // valid for an hour
	VerifyEmail   Purpose = "verify_email"   // valid for a week
)

func (p Purpose) linkLife() time.Duration {
	if p == ResetPassword {
		return resetLife
	}
	return verifyLife
}

// errLink is the same error for a used, an expired and an unknown link.
var errLink = fault.New(fault.LinkExpired, "This link is no longer valid; ask for a new one.")

// AddLink writes a token of purpose p for the user with this address and returns it. tx runs as System. Earlier links
// stay valid until they are used or expire. If there is no such user, AddLink writes nothing, at the same cost.
func AddLink(tx *postgres.Tx, p Purpose, email string) (token string) {
	token, hash := newOpaque(linkPrefix, id.ID{})
	tx.Queue(`
		INSERT INTO user_token (hash, user_id, purpose, expires_at)
		SELECT $3, id, $2, now() + make_interval(secs => $4) FROM app_user WHERE email_folded = $1`,
		FoldEmail(email), string(p), hash, p.linkLife().Seconds())
	return token
}

// MayMail counts a mail that anyone can request for a user, and reports whether it may be sent: callerMails an hour to
// one address per caller, and addressMails a day to one address. Requests beyond a caller's own limit do not count
// against the address, so one caller cannot block a user's mails.
func (s *Service) MayMail(ctx context.Context, email string, caller netip.Addr) bool {
	sum := digestOf(FoldEmail(email)) // no mail addresses in Redis
	address := hex.EncodeToString(sum[:12])
	return s.allowSubject(ctx, callerMails, address+":"+callerPart(caller)) == nil &&
		s.allowSubject(ctx, addressMails, address) == nil
}

// useLink consumes a token and returns its user.
func useLink(ctx context.Context, tx *postgres.Tx, p Purpose, token string) (user id.ID, err error) {
	sum := digestOf(token)
	err = tx.QueryRow(ctx,
		`DELETE FROM user_token WHERE hash = $1 AND purpose = $2 AND expires_at > now() RETURNING user_id`,
		[]any{sum[:], string(p)}, &user)
	if postgres.None(err) {
		return user, errLink
	}

	return user, err
}

// Reset sets a new password with a mailed token, consumes the token, and ends all sessions of the user. It calls
// written in the transaction, which runs as System.
func (s *Service) Reset(ctx context.Context, token, password string, written func(*postgres.Tx, id.ID) error) error {
	if err := CheckPassword("password", password, ""); err != nil {
		return err
	}
	if err := s.peekLink(ctx, ResetPassword, token); err != nil {
		return err
	}

	hash, err := s.HashPassword(ctx, password)
	if err != nil {
		return err
	}

	var user id.ID
	err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		if user, err = useLink(ctx, tx, ResetPassword, token); err != nil {
			return err
		}
		tx.Queue(`UPDATE app_user SET password_hash = $2, verified_at = coalesce(verified_at, now()) WHERE id = $1`,
			user, hash)
		endOthers(tx, user, id.ID{})
		return written(tx, user)
	})
	if err == nil {
		s.forgetPerson(user)
	}

	return err
}

// peekLink returns errLink for a token that cannot be used, without consuming it, so that only the holder of a valid
// link can make the process hash a password.
func (s *Service) peekLink(ctx context.Context, p Purpose, token string) error {
	if _, ok := orgOf(linkPrefix, token); !ok {
		return errLink
	}

	sum := digestOf(token)
	var one int
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT 1 FROM user_token WHERE hash = $1 AND purpose = $2 AND expires_at > now()`,
			[]any{sum[:], string(p)}, &one)
	})
	if postgres.None(err) {
		return errLink
	}
	if err != nil {
		return fmt.Errorf("read link: %w", err)
	}

	return nil
}

// Confirm marks the address as verified with a mailed token and consumes the token.
func (s *Service) Confirm(ctx context.Context, token string) error {
	if _, ok := orgOf(linkPrefix, token); !ok {
		return errLink
	}

	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		user, err := useLink(ctx, tx, VerifyEmail, token)
		if err != nil {
			return err
		}
		tx.Queue(`UPDATE app_user SET verified_at = coalesce(verified_at, now()) WHERE id = $1`, user)
		return nil
	})
}

// ChangePassword replaces the password of who, given the old one, and ends all other sessions of the user. Wrong old
// passwords are throttled like failed logins. It calls written in the transaction, which runs as System.
func (s *Service) ChangePassword(ctx context.Context, who Who, old, fresh string, ip netip.Addr,
	written func(*postgres.Tx, id.ID) error,
) error {
	var email string
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT email FROM app_user WHERE id = $1`, []any{who.User}, &email)
	})
	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	if err := CheckPassword("new_password", fresh, email); err != nil {
		return err
	}
	if _, err := s.CheckPerson(ctx, email, old, ip); fault.Is(err, fault.InvalidCredentials) {
		return fault.Invalid("old_password", "wrong_password", "This is not the password.")
	} else if err != nil {
		return err
	}

	hash, err := s.HashPassword(ctx, fresh)
	if err != nil {
		return err
	}

	err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE app_user SET password_hash = $2 WHERE id = $1`, who.User, hash)
		endOthers(tx, who.User, who.Session)
		return written(tx, who.User)
	})
	if err == nil {
		s.forgetPerson(who.User)
	}

	return err
}

// endOthers ends the user's sessions in every org except the session keep, and deletes pending reset links.
func endOthers(tx *postgres.Tx, user, keep id.ID) {
	lockPerson(tx, user)
	tx.Queue(`UPDATE refresh_token SET revoked_at = now(), successor = NULL WHERE user_id = $1 AND family <> $2
		AND revoked_at IS NULL`, user, keep)
	tx.Queue(`DELETE FROM user_token WHERE user_id = $1 AND purpose = $2`, user, string(ResetPassword))
}

// Sweep deletes rows that expired more than a day ago. tx runs as System.
func Sweep(tx *postgres.Tx) {
	tx.Queue(`DELETE FROM refresh_token WHERE expires_at < now() - interval '1 day'`)
	tx.Queue(`DELETE FROM user_token WHERE expires_at < now() - interval '1 day'`)
}
