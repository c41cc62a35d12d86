package auth

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Session is a login: what the token answer shows.
type Session struct {
	AccessToken  string
	ExpiresIn    time.Duration
	RefreshToken string
	User         User
	Org          id.ID
	OrgName      string
	Role         Role
	Device       Device // who gets the tokens
}

// Credentials are what a person logs in with. Org is the org to land in; nil means the one last used.
type Credentials struct {
	Email, Password string
	Org             *id.ID
	IP              netip.Addr
	UserAgent       string
}

// errCredentials is one answer for an unknown address, a wrong password, and an org one is not in.
var errCredentials = fault.New(fault.InvalidCredentials, "The mail address or the password is wrong.")

// Login checks credentials and begins a session. Unknown and known addresses cost the same and answer the
// same: fault.InvalidCredentials, or fault.RateLimited after too many failures.
func (s *Service) Login(ctx context.Context, in Credentials) (*Session, error) {
	who, err := s.CheckPerson(ctx, in.Email, in.Password, in.IP)
	if err != nil {
		return nil, err
	}
	org, name, role, err := s.landing(ctx, who, in.Org)
	if err != nil {
		return nil, err
	}
	out := &Session{User: who.User, Org: org, OrgName: name, Role: role, Device: Device{in.IP, in.UserAgent}}
	err = s.System.Tx(ctx, org, func(tx *postgres.Tx) error {
		use(tx, who.ID, org)
		if err := unchanged(ctx, tx, who); err != nil {
			return err
		}
		return s.Begin(ctx, tx, out)
	})
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", err)
	}
	s.Metrics.logins.WithLabelValues("accepted").Inc()
	return out, nil
}

// unchanged refuses a person whose password was changed since it was checked: a change ends all sessions that began
// with the former one.
func unchanged(ctx context.Context, tx *postgres.Tx, who *Person) error {
	lockPerson(tx, who.ID)
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM app_user WHERE id = $1 AND password_hash = $2`, []any{who.ID, who.hash}, &one)
	if postgres.None(err) {
		return errCredentials
	}
	return err
}

// use remembers the org that a person's next login lands in; tx runs as System.
func use(tx *postgres.Tx, user, org id.ID) {
	tx.Queue(`UPDATE app_user SET last_org_id = $2 WHERE id = $1 AND last_org_id IS DISTINCT FROM $2`, user, org)
}

// Use remembers org as the one that user was in last, for a session that another transaction began. Failing is
// no reason to refuse the session.
func (s *Service) Use(ctx context.Context, user, org id.ID) {
	err := s.System.Tx(ctx, org, func(tx *postgres.Tx) error {
		use(tx, user, org)
		return nil
	})
	if err != nil {
		s.Log.WarnContext(ctx, "org last used not remembered", "user", user.String(), "error", err)
	}
}

// Person is somebody whose password was right.
type Person struct {
	User
	hash    string // that the password matched
	lastOrg id.ID
}

// CheckPerson finds the person with this address and password, throttled.
func (s *Service) CheckPerson(ctx context.Context, email, password string, ip netip.Addr) (*Person, error) {
	try, err := s.attempt(ctx, email, ip)
	if err != nil {
		s.Metrics.logins.WithLabelValues("throttled").Inc()
		return nil, err
	}
	defer try.done()
	a, err := s.accountOf(ctx, email)
	if err != nil {
		return nil, fmt.Errorf("read account: %w", err)
	}
	ok, stale, err := s.matches(ctx, a.hash, password)
	if err != nil {
		return nil, err
	}
	if !ok {
		s.Metrics.logins.WithLabelValues("refused").Inc()
		return nil, errCredentials
	}
	try.right(ctx)
	if stale {
		a.hash = s.rehash(ctx, a, password)
	}
	return &Person{User: a.User, hash: a.hash, lastOrg: a.lastOrg}, nil
}

// rehash stores the password under today's parameters and returns the hash that is stored. Failing is no reason to
// refuse a login.
func (s *Service) rehash(ctx context.Context, a account, password string) (stored string) {
	stored = a.hash
	hash, err := s.HashPassword(ctx, password)
	if err == nil {
		err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `WITH changed AS (
					UPDATE app_user SET password_hash = $3 WHERE id = $1 AND password_hash = $2 RETURNING password_hash)
				SELECT coalesce((SELECT password_hash FROM changed), $2)`, []any{a.ID, a.hash, hash}, &stored)
		})
	}
	if err != nil {
		s.Log.WarnContext(ctx, "password not hashed anew", "user", a.ID.String(), "error", err)
	}
	return stored
}

// landing picks the org of a login: the asked one, else the last used, else the oldest membership.
func (s *Service) landing(ctx context.Context, who *Person, asked *id.ID) (org id.ID, name string, role Role, err error) {
	all, err := s.memberships(ctx, who.ID)
	if err != nil {
		return org, "", "", err
	}
	want := who.lastOrg
	if asked != nil {
		want = *asked
	}
	for _, m := range all {
		if m.ID == want {
			return m.ID, m.Name, m.Role, nil
		}
	}
	if asked != nil || len(all) == 0 {
		s.Metrics.logins.WithLabelValues("refused").Inc()
		return org, "", "", errCredentials
	}
	return all[0].ID, all[0].Name, all[0].Role, nil
}

// Begin starts a session for out's user and org in tx, and fills in the tokens. They count once tx has
// committed.
func (s *Service) Begin(ctx context.Context, tx *postgres.Tx, out *Session) error {
	family := id.New()
	text, hash := newOpaque(refreshPrefix, out.Org)
	lockPerson(tx, out.User.ID)
	tx.Queue(`INSERT INTO refresh_token (org_id, id, family, user_id, hash, expires_at, ip, user_agent)
		VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6), $7, $8)`,
		out.Org, id.New(), family, out.User.ID, hash, refreshLife.Seconds(), out.Device.ip(), out.Device.agent())
	out.RefreshToken = text
	return s.sign(ctx, out, family)
}

// sign fills in the access token.
func (s *Service) sign(ctx context.Context, out *Session, family id.ID) (err error) {
	out.ExpiresIn = accessLife
	out.AccessToken, err = s.access(ctx, Who{Org: out.Org, User: out.User.ID, Role: out.Role, Session: family}, time.Now())
	return err
}
