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

// Session is a login, as the token response shows it.
type Session struct {
	AccessToken  string
	ExpiresIn    time.Duration
	RefreshToken string
	User         User
	Org          id.ID
	OrgName      string
	Role         Role
	Device       Device    // that receives the tokens
	Client       Client    // that receives the tokens
	RefreshUntil time.Time // when the whole session ends
}

// Credentials are the input of a login. Org is the org to log in to; nil means the one used last.
type Credentials struct {
	Email, Password string
	Org             *id.ID
	IP              netip.Addr
	UserAgent       string
	Client          Client
	// Home restricts the login to this org and its client orgs. The zero ID means any org.
	Home id.ID
}

// errCredentials is the same error for an unknown address, a wrong password, and an org without the user.
var errCredentials = fault.New(fault.InvalidCredentials, "The mail address or the password is wrong.")

// Login checks credentials and begins a session. Unknown and known addresses take the same time and get the same
// errors: fault.InvalidCredentials, or fault.RateLimited after too many failures.
func (s *Service) Login(ctx context.Context, in Credentials) (*Session, error) {
	who, err := s.CheckPerson(ctx, in.Email, in.Password, in.IP)
	if err != nil {
		return nil, err
	}

	org, name, role, err := s.selectLanding(ctx, who, in.Org, in.Home)
	if err != nil {
		return nil, err
	}

	out := &Session{
		User: who.User, Org: org, OrgName: name, Role: role, Device: Device{in.IP, in.UserAgent},
		Client: in.Client,
	}
	err = s.System.Tx(ctx, org, func(tx *postgres.Tx) error {
		storeLastOrg(tx, who.ID, org)
		if err := checkUnchanged(ctx, tx, who); err != nil {
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

// checkUnchanged returns an error if the user's password was changed, or the user disabled, after it was checked.
// Either ends all sessions that began before.
func checkUnchanged(ctx context.Context, tx *postgres.Tx, who *Person) error {
	lockPerson(tx, who.ID)
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM app_user WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL`,
		[]any{who.ID, who.hash}, &one)
	if postgres.None(err) {
		return errCredentials
	}

	return err
}

// storeLastOrg stores the org of the user's next login. tx runs as System.
func storeLastOrg(tx *postgres.Tx, user, org id.ID) {
	tx.Queue(`UPDATE app_user SET last_org_id = $2 WHERE id = $1 AND last_org_id IS DISTINCT FROM $2`, user, org)
}

// Use records org as the one that user used last, for a session that another transaction began. A failure is logged and
// does not affect the session.
func (s *Service) Use(ctx context.Context, user, org id.ID) {
	err := s.System.Tx(ctx, org, func(tx *postgres.Tx) error {
		storeLastOrg(tx, user, org)
		return nil
	})
	if err != nil {
		s.Log.WarnContext(ctx, "store last used org failed", "user", user.String(), "error", err)
	}
}

// Person is a user whose password was verified.
type Person struct {
	User
	hash    string // the password's hash when it was verified
	lastOrg id.ID
}

// CheckPerson returns the user with this address and password. It is throttled. A disabled user gets the error of a
// wrong password.
func (s *Service) CheckPerson(ctx context.Context, email, password string, ip netip.Addr) (*Person, error) {
	try, err := s.beginAttempt(ctx, email, ip)
	if err != nil {
		s.Metrics.logins.WithLabelValues("throttled").Inc()
		return nil, err
	}

	defer try.done()

	a, err := s.accountOf(ctx, email)
	if err != nil {
		return nil, fmt.Errorf("read account: %w", err)
	}

	ok, stale, err := s.matchPassword(ctx, a.hash, password)
	if err != nil {
		return nil, err
	}
	if !ok || a.disabled {
		s.Metrics.logins.WithLabelValues("refused").Inc()
		return nil, errCredentials
	}

	try.recordSuccess(ctx)
	if stale {
		a.hash = s.rehashPassword(ctx, a, password)
	}

	return &Person{User: a.User, hash: a.hash, lastOrg: a.lastOrg}, nil
}

// rehashPassword stores the password under the current parameters and returns the stored hash. A failure does not fail
// the login.
func (s *Service) rehashPassword(ctx context.Context, a account, password string) (stored string) {
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
		s.Log.WarnContext(ctx, "rehash password failed", "user", a.ID.String(), "error", err)
	}

	return stored
}

// selectLanding selects the org of a login: the requested one, else the last used, else the oldest membership. home,
// unless it is zero, restricts the choice as Credentials.Home does.
func (s *Service) selectLanding(ctx context.Context, who *Person, asked *id.ID, home id.ID) (org id.ID, name string,
	role Role, err error,
) {
	all, err := s.listMemberships(ctx, who.ID, home)
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

// Begin starts a session for out's user and org in tx, and sets the tokens. They are valid once tx has committed,
// unless the user is disabled.
func (s *Service) Begin(ctx context.Context, tx *postgres.Tx, out *Session) error {
	family := id.New()
	text, hash := newOpaque(refreshPrefix, out.Org)
	lockPerson(tx, out.User.ID)
	tx.Queue(`INSERT INTO refresh_token (org_id, id, family, user_id, hash, expires_at, ip, user_agent, client)
		SELECT $1, $2, $3, id, $5, now() + make_interval(secs => $6), $7, $8, $9 FROM app_user
		WHERE id = $4 AND disabled_at IS NULL`,
		out.Org, id.New(), family, out.User.ID, hash, refreshLife.Seconds(), out.Device.ipText(),
		out.Device.agentLine(),
		string(out.Client))
	out.RefreshToken, out.RefreshUntil = text, time.Now().Add(refreshLife)
	return s.signSession(ctx, out, family)
}

// signSession sets the access token.
func (s *Service) signSession(ctx context.Context, out *Session, family id.ID) (err error) {
	out.ExpiresIn = accessLife
	out.AccessToken, err = s.signAccess(ctx, Who{
		Org: out.Org, User: out.User.ID, Role: out.Role, Session: family, Client: out.Client,
	}, time.Now())
	return err
}
