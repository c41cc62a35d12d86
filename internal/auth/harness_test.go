package auth_test

import (
	"net/netip"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const password = "a perfectly fine password"

// house is a database with services over it.
type house struct {
	*testkit.Database
	box *secret.Sealer
}

func build(t *testing.T) *house {
	t.Helper()
	box := testkit.Box(t)
	return &house{testkit.DB(t), box}
}

// service returns a Service as one process has it.
func (h *house) service(change func(*auth.Options)) *auth.Service {
	o := auth.Options{System: h.System, App: h.App, Box: h.box, Issuer: "https://api.test"}
	if change != nil {
		change(&o)
	}
	return auth.New(o)
}

const email = "ada@example.com"

// person creates a user with a membership in a new org.
func (h *house) person(t *testing.T, s *auth.Service) (user, org id.ID) {
	t.Helper()
	hash, err := s.HashPassword(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	user, org = id.New(), h.org(t, "Org of "+email)
	err = h.System.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		auth.AddUser(tx,
			auth.NewUser{ID: user, Email: email, PasswordHash: hash, FirstName: "Ada", LastName: "L", LastOrg: org})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.seat(t, org, user, auth.Owner)
	return user, org
}

func (h *house) org(t *testing.T, name string) id.ID {
	t.Helper()
	org := id.New()
	h.exec(t, org, `INSERT INTO org (id, name) VALUES ($1, $2)`, org, name)
	return org
}

func (h *house) seat(t *testing.T, org, user id.ID, role auth.Role) {
	t.Helper()
	h.exec(t, org, `INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, $3)`, org, user, string(role))
}

func (h *house) exec(t *testing.T, org id.ID, sql string, args ...any) {
	t.Helper()
	err := h.System.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		tx.Queue(sql, args...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func login(t *testing.T, s *auth.Service) *auth.Session {
	t.Helper()
	out, err := s.Login(t.Context(), auth.Credentials{Email: email, Password: password, IP: from("192.0.2.1")})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func from(ip string) netip.Addr { return netip.MustParseAddr(ip) }

// hashed returns the number of hashed passwords.
func hashed(t *testing.T, reg *prometheus.Registry) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() == "funnelwork_auth_password_hashes_total" {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// super runs a statement without row policies.
func (h *house) super(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := testkit.Pgx(t, h.URL).Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func kidOf(t *testing.T, token string) string {
	t.Helper()
	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	kid, _ := parsed.Header["kid"].(string)
	return kid
}
