package auth_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// signing reads the only signing key from the database, so that tests can sign tokens that the service never would.
func (h *house) signing(t *testing.T) (kid string, key ed25519.PrivateKey) {
	t.Helper()
	var sealed []byte
	err := h.System.ReadTx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT kid, private FROM signing_key`, nil, &kid, &sealed)
	})
	if err != nil {
		t.Fatal(err)
	}
	seed, err := h.box.Open(sealed, "signing_key/"+kid)
	if err != nil {
		t.Fatal(err)
	}
	return kid, ed25519.NewKeyFromSeed(seed)
}

func TestATokenThatIsNotExactlyOursIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, org := h.person(t, s)
	login(t, s) // makes the first key
	kid, key := h.signing(t)
	_, foreign, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public().(ed25519.PublicKey)
	now := time.Now()
	type made struct {
		head, body map[string]any
		sign       func(input string) []byte
	}
	mine, err := s.Verify(t.Context(), login(t, s).AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	session := mine.Session
	ours := func(input string) []byte { return ed25519.Sign(key, []byte(input)) }
	good := func() made {
		return made{
			map[string]any{"alg": "EdDSA", "typ": "at+jwt", "kid": kid},
			map[string]any{
				"iss": "https://api.test", "aud": "funnelwork", "sub": user.String(), "org": org.String(),
				"sid":  session.String(),
				"role": "owner", "jti": id.New().String(), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
			},
			ours,
		}
	}
	hmacWith := func(secret []byte) func(string) []byte {
		return func(input string) []byte {
			m := hmac.New(sha256.New, secret)
			m.Write([]byte(input))
			return m.Sum(nil)
		}
	}
	jwk := map[string]any{
		"kty": "OKP", "crv": "Ed25519",
		"x": base64.RawURLEncoding.EncodeToString(foreign.Public().(ed25519.PublicKey)), "kid": kid,
	}
	ended := map[string]bool{"sub of no user": true, "another org": true, "another sid": true} // but no session
	for name, spoil := range map[string]func(*made){
		"": func(*made) {},
		"alg none": func(m *made) {
			m.head["alg"] = "none"
			m.sign = func(string) []byte { return nil }
		},
		"alg None": func(m *made) {
			m.head["alg"] = "None"
			m.sign = func(string) []byte { return nil }
		},
		"no signature": func(m *made) { m.sign = func(string) []byte { return nil } },
		"HS256 by public key": func(m *made) {
			m.head["alg"] = "HS256"
			m.sign = hmacWith(public)
		},
		"HS256 by base64 key": func(m *made) {
			m.head["alg"] = "HS256"
			m.sign = hmacWith([]byte(base64.RawURLEncoding.EncodeToString(public)))
		},
		"EdDSA by another key": func(m *made) {
			m.sign = func(in string) []byte { return ed25519.Sign(foreign, []byte(in)) }
		},
		"wrong kid":       func(m *made) { m.head["kid"] = id.New().String() },
		"no kid":          func(m *made) { delete(m.head, "kid") },
		"kid of a number": func(m *made) { m.head["kid"] = 1 },
		"jku": func(m *made) {
			m.head["jku"] = "https://evil.test/jwks.json"
			m.sign = func(in string) []byte { return ed25519.Sign(foreign, []byte(in)) }
		},
		"x5u": func(m *made) {
			m.head["x5u"] = "https://evil.test/cert.pem"
			m.sign = func(in string) []byte { return ed25519.Sign(foreign, []byte(in)) }
		},
		"jwk": func(m *made) {
			m.head["jwk"] = jwk
			m.sign = func(in string) []byte { return ed25519.Sign(foreign, []byte(in)) }
		},
		"crit":            func(m *made) { m.head["crit"] = []string{"exp"} },
		"expired":         func(m *made) { m.body["exp"] = now.Add(-31 * time.Second).Unix() },
		"no exp":          func(m *made) { delete(m.body, "exp") },
		"future iat":      func(m *made) { m.body["iat"] = now.Add(31 * time.Second).Unix() },
		"no iat":          func(m *made) { delete(m.body, "iat") },
		"future nbf":      func(m *made) { m.body["nbf"] = now.Add(time.Hour).Unix() },
		"wrong aud":       func(m *made) { m.body["aud"] = "elsewhere" },
		"no aud":          func(m *made) { delete(m.body, "aud") },
		"wrong iss":       func(m *made) { m.body["iss"] = "https://evil.test" },
		"no iss":          func(m *made) { delete(m.body, "iss") },
		"typ JWT":         func(m *made) { m.head["typ"] = "JWT" },
		"no typ":          func(m *made) { delete(m.head, "typ") },
		"no jti":          func(m *made) { delete(m.body, "jti") },
		"sub of no user":  func(m *made) { m.body["sub"] = id.New().String() },
		"sub is no uuid":  func(m *made) { m.body["sub"] = "ada" },
		"another org":     func(m *made) { m.body["org"] = id.New().String() },
		"another sid":     func(m *made) { m.body["sid"] = id.New().String() },
		"no sid":          func(m *made) { delete(m.body, "sid") },
		"no org":          func(m *made) { delete(m.body, "org") },
		"claims are text": func(m *made) { m.body["exp"] = "tomorrow" },
	} {
		m := good()
		spoil(&m)
		part := func(v any) string {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return base64.RawURLEncoding.EncodeToString(b)
		}
		input := part(m.head) + "." + part(m.body)
		token := input + "." + base64.RawURLEncoding.EncodeToString(m.sign(input))
		who, err := s.Verify(t.Context(), token)
		if name == "" {
			if err != nil {
				t.Fatalf("a good token: %v", err)
			}
			if who.User != user {
				t.Fatalf("a good token: user %v, want %v", who.User, user)
			}
			if who.Org != org {
				t.Fatalf("a good token: org %v, want %v", who.Org, org)
			}
			if who.Role != auth.Owner {
				t.Fatalf("a good token: role %v, want %v", who.Role, auth.Owner)
			}
			continue
		}
		want := fault.InvalidToken
		if ended[name] {
			want = fault.SessionEnded
		}
		if !fault.Is(err, want) {
			t.Errorf("%s: %+v, %v; want %s", name, who, err, want)
		}
	}
	for _, text := range []string{
		"x", "..", "a.b.c", "fw_", "fw_x", "fr_" + strings.Repeat("A", 64),
		strings.Repeat("a", 1<<20),
	} {
		if _, err := s.Verify(t.Context(), text); !fault.Is(err, fault.InvalidToken) {
			t.Errorf("%.20q: %v; want invalid_token", text, err)
		}
	}
	if _, err := s.Verify(t.Context(), ""); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("nothing: %v; want unauthorized", err)
	}
}

func TestATokenSaysWhatTheContractLists(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, org := h.person(t, s)
	out := login(t, s)
	claims := jwt.MapClaims{}
	token, _, err := jwt.NewParser().ParseUnverified(out.AccessToken, claims)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"typ": "at+jwt", "alg": "EdDSA"} {
		if token.Header[name] != want {
			t.Errorf("header %s: %v, want %s", name, token.Header[name], want)
		}
	}
	if token.Header["kid"] == "" {
		t.Errorf("header %v has an empty kid", token.Header)
	}
	for _, name := range []string{"iss", "aud", "sub", "org", "role", "jti", "iat", "exp"} {
		if _, ok := claims[name]; !ok {
			t.Errorf("%s is missing in %v", name, claims)
		}
	}
	for name, want := range map[string]string{"sub": user.String(), "org": org.String(), "role": "owner"} {
		if claims[name] != want {
			t.Errorf("claim %s: %v, want %s", name, claims[name], want)
		}
	}
	if life := claims["exp"].(float64) - claims["iat"].(float64); life != 15*60 || out.ExpiresIn != 15*time.Minute {
		t.Errorf("lives %v s, says %v", life, out.ExpiresIn)
	}
}

func TestAVerifiedTokenIsCheckedFromMemory(t *testing.T) {
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	out := login(t, s)
	verify := func() {
		if _, err := s.Verify(t.Context(), out.AccessToken); err != nil {
			t.Fatal(err)
		}
	}
	verify()
	if n := testing.AllocsPerRun(100, verify); n > 2 {
		t.Errorf("%v allocations per request, want at most 2", n)
	}
}
