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

// Purpose is what a mailed link lets its holder do, once.
type Purpose string

// The purposes.
const (
	ResetPassword Purpose = "reset_password" // for an hour
	VerifyEmail   Purpose = "verify_email"   // for a week
)

func (p Purpose) life() time.Duration {
	if p == ResetPassword {
		return resetLife
	}
	return verifyLife
}

// errLink is one answer for a link that was used, is over or never was.
var errLink = fault.New(fault.LinkExpired, "This link is no longer valid; ask for a new one.")

// AddLink writes a token of that purpose for the person with this address, in tx, which runs as System, and
// returns it. Earlier links go on to count until they are used or expire. Where there is no such person nothing is
// written, at the same cost.
func AddLink(tx *postgres.Tx, p Purpose, email string) (token string) {
	token, hash := newOpaque(linkPrefix, id.ID{})
	tx.Queue(`
		INSERT INTO user_token (hash, user_id, purpose, expires_at)
		SELECT $3, id, $2, now() + make_interval(secs => $4) FROM app_user WHERE email_folded = $1`,
		FoldEmail(email), string(p), hash, p.life().Seconds())
	return token
}

// MayMail counts a mail to a person that anybody can ask for, and reports whether it may go out: callerMails an hour to
// one address at the word of one caller, and addressMails a day to one address. What a caller asks for beyond their own
// limit is not counted against the address, so that nobody alone can keep a person from their mails.
func (s *Service) MayMail(ctx context.Context, email string, caller netip.Addr) bool {
	sum := digestOf(FoldEmail(email)) // no addresses in Redis
	address := hex.EncodeToString(sum[:12])
	return s.allow(ctx, callerMails, address+":"+subscriber(caller)) == nil && s.allow(ctx, addressMails, address) == nil
}

// useLink consumes a token and answers whose it was.
func useLink(ctx context.Context, tx *postgres.Tx, p Purpose, token string) (user id.ID, err error) {
	sum := digestOf(token)
	err = tx.QueryRow(ctx, `DELETE FROM user_token WHERE hash = $1 AND purpose = $2 AND expires_at > now() RETURNING user_id`,
		[]any{sum[:], string(p)}, &user)
	if postgres.None(err) {
		return user, errLink
	}
	return user, err
}

// Reset sets a new password by a mailed token, which is used up, and ends all the person's sessions.
// written is called in the transaction, which runs as System.
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
		tx.Queue(`UPDATE app_user SET password_hash = $2, verified_at = coalesce(verified_at, now()) WHERE id = $1`, user, hash)
		endOthers(tx, user, id.ID{})
		return written(tx, user)
	})
	if err == nil {
		s.forgetPerson(user)
	}
	return err
}

// peekLink returns errLink for a token that cannot be used, without using it up: nobody without a link makes the
// process hash a password.
func (s *Service) peekLink(ctx context.Context, p Purpose, token string) error {
	if _, ok := orgOf(linkPrefix, token); !ok {
		return errLink
	}
	sum := digestOf(token)
	var one int
	err := s.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
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

// Confirm marks the address as proven by a mailed token, which is used up.
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

// ChangePassword replaces who's password, given the old one, and ends all other sessions of the person.
// Wrong old passwords are throttled as logins are. written is called in the transaction, which runs as System.
func (s *Service) ChangePassword(ctx context.Context, who Who, old, fresh string, ip netip.Addr, written func(*postgres.Tx, id.ID) error) error {
	var email string
	err := s.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
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

// endOthers ends the person's sessions in every org but one of them, and the reset links that are on their way.
func endOthers(tx *postgres.Tx, user, keep id.ID) {
	lockPerson(tx, user)
	tx.Queue(`UPDATE refresh_token SET revoked_at = now(), successor = NULL WHERE user_id = $1 AND family <> $2 AND revoked_at IS NULL`, user, keep)
	tx.Queue(`DELETE FROM user_token WHERE user_id = $1 AND purpose = $2`, user, string(ResetPassword))
}

// Sweep deletes what has been over for a day, in tx, which runs as System.
func Sweep(tx *postgres.Tx) {
	tx.Queue(`DELETE FROM refresh_token WHERE expires_at < now() - interval '1 day'`)
	tx.Queue(`DELETE FROM user_token WHERE expires_at < now() - interval '1 day'`)
}
