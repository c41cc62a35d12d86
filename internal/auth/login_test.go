package auth_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

func TestALoginThatFailsSaysNothingAboutWhy(t *testing.T) {
	t.Parallel()
	h := build(t)
	reg := prometheus.NewRegistry()
	s := h.service(func(o *auth.Options) { o.Metrics = auth.NewMetrics(reg) })
	user, org := h.person(t, s)
	h.exec(t, org, `INSERT INTO app_user (id, email, email_folded) VALUES ($1, 'new@example.com', 'new@example.com')`,
		id.New())
	strange := id.New()
	var want *fault.Fault
	for name, c := range map[string]auth.Credentials{
		"wrong password":            {Email: "ada@example.com", Password: "another good password"},
		"unknown address":           {Email: "eve@example.com", Password: password},
		"no password yet":           {Email: "new@example.com", Password: ""},
		"an org that is not theirs": {Email: "ada@example.com", Password: password, Org: &strange},
	} {
		c.IP = from("192.0.2.1")
		before := hashed(t, reg)
		_, err := s.Login(t.Context(), c)
		f := fault.Of(err)
		if f == nil || f.Code != fault.InvalidCredentials {
			t.Fatalf("%s: %v", name, err)
		}
		if want == nil {
			want = f
		}
		if f.Detail != want.Detail {
			t.Errorf("%s: detail %q, want %q as for another failure", name, f.Detail, want.Detail)
		}
		if f.RetryAfter != 0 {
			t.Errorf("%s: retry after %v, want none", name, f.RetryAfter)
		}
		if f.ExistingID != "" {
			t.Errorf("%s: existing id %q, want none", name, f.ExistingID)
		}
		if len(f.Fields) != 0 {
			t.Errorf("%s: fields %+v, want none", name, f.Fields)
		}
		if n := hashed(t, reg) - before; n != 1 {
			t.Errorf("%s: %v hashes, want 1 as for everybody", name, n)
		}
	}
	out, err := s.Login(t.Context(),
		auth.Credentials{Email: " ADA@Example.com ", Password: password, IP: from("192.0.2.1"), Org: &org})
	if err != nil {
		t.Fatal(err)
	}
	if out.User.ID != user {
		t.Errorf("user %v, want %v", out.User.ID, user)
	}
	if out.Org != org {
		t.Errorf("org %v, want %v", out.Org, org)
	}
	if want := "Org of ada@example.com"; out.OrgName != want {
		t.Errorf("org's name %q, want %q", out.OrgName, want)
	}
}

func TestAPersonOfSeveralOrgsLandsInTheOneLastUsed(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, first := h.person(t, s)
	second := h.org(t, "Second")
	h.seat(t, second, user, auth.Viewer)
	land := func(asked *id.ID) id.ID {
		t.Helper()
		out, err := s.Login(t.Context(),
			auth.Credentials{Email: "ada@example.com", Password: password, IP: from("192.0.2.1"), Org: asked})
		if err != nil {
			t.Fatal(err)
		}
		return out.Org
	}
	got := []id.ID{land(nil), land(&second), land(nil), land(&first), land(nil)}
	if diff := cmp.Diff([]id.ID{first, second, second, first, first}, got); diff != "" {
		t.Error(diff)
	}
	land(&second)
	h.exec(t, second, `UPDATE member SET removed_at = now() WHERE org_id = $1`, second)
	if got := land(nil); got != first {
		t.Error("somebody removed from the org last used does not land in another")
	}
}

func TestAHashHasOWASPsParametersAndIsRenewedWhenTheyChange(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, _ := h.person(t, s)
	read := func() (hash string) {
		err := h.System.ReadTx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT password_hash FROM app_user WHERE id = $1`, []any{user}, &hash)
		})
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	const today = "$argon2id$v=19$m=19456,t=2,p=1$"
	if got := read(); !strings.HasPrefix(got, today) {
		t.Errorf("stored %q", got)
	}
	// argon2id of "password" with the salt "somesalt", m=256 t=2 p=1: a test vector of the reference implementation.
	h.exec(t, id.ID{}, `UPDATE app_user SET password_hash = $2 WHERE id = $1`, user,
		"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4")
	c := auth.Credentials{Email: "ada@example.com", Password: "password", IP: from("192.0.2.1")}
	if _, err := s.Login(t.Context(), c); err != nil {
		t.Fatalf("a hash of other parameters: %v", err)
	}
	if got := read(); !strings.HasPrefix(got, today) {
		t.Errorf("not renewed: %q", got)
	}
	if _, err := s.Login(t.Context(), c); err != nil {
		t.Errorf("after the renewal: %v", err)
	}
}

func TestAPasswordIsHeldToItsRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "too_short",
		"1234567":                       "too_short",
		"iloveyou":                      "too_common",
		"QWERTYUIOP":                    "too_common",
		"ada@example.com":               "too_common",
		"seven77":                       "too_short",
		"eight888":                      "",
		"pass word":                     "",
		"\n12345678\n":                  "",
		strings.Repeat("é", 128):        "",
		strings.Repeat("x", 129):        "too_long",
		strings.Repeat("e\u0301", 128):  "", // 128 characters once composed
		"correct horse battery staple.": "",
	} {
		err := auth.CheckPassword("password", text, "Ada@example.com")
		got := ""
		if f := fault.Of(err); f != nil {
			got = f.Fields[0].Code
		}
		if got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}

func TestTheSamePasswordInAnotherUnicodeFormIsTheSame(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, _ := h.person(t, s)
	hash, err := s.HashPassword(t.Context(), "caf\u00e9 au lait")
	if err != nil {
		t.Fatal(err)
	}
	h.exec(t, id.ID{}, `UPDATE app_user SET password_hash = $2 WHERE id = $1`, user, hash)
	if _, err := s.Login(t.Context(),
		auth.Credentials{Email: "ada@example.com", Password: "cafe\u0301 au lait", IP: from("192.0.2.1")}); err != nil {
		t.Error(err)
	}
}

func TestAnAddressIsHeldToItsForm(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"ada@example.com": true, "a.b+c@sub.example.co": true, "ünï@exämple.de": true, "o'hara@example.com": true,
		"": false, "ada": false, "@example.com": false, "ada@": false, "ada@example": false,
		"ada@@example.com": false, "a b@example.com": false,
		"ada@example..com": false, "ada@.example.com": false, "ada@example.com.": false, "ada@exam\nple.com": false,
		"Ada <ada@example.com>":                  false,
		strings.Repeat("a", 65) + "@example.com": false, "ada@" + strings.Repeat("a", 260) + ".com": false,
		"ada\x00@example.com": false,
	} {
		if err := auth.CheckEmail("email", text); (err == nil) != ok {
			t.Errorf("%.40q: %v, want ok = %v", text, err, ok)
		}
	}
}
