package auth_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// consoleLogin begins a console session of the person of a house.
func consoleLogin(t *testing.T, s *auth.Service) *auth.Session {
	t.Helper()
	out, err := s.Login(t.Context(), auth.Credentials{
		Email: email, Password: password, IP: from("192.0.2.1"), Client: auth.Console,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ignored(*postgres.Tx, id.ID) error { return nil }

func TestASessionsClientIsThatOfItsTokens(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	for name, tc := range map[string]struct {
		begin  func(*testing.T, *auth.Service) *auth.Session
		client auth.Client
	}{"bearer": {login, auth.AnyClient}, "console": {consoleLogin, auth.Console}} {
		first := tc.begin(t, s)
		next, err := s.Refresh(t.Context(), first.RefreshToken, tc.client, auth.Device{}, ignored)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, one := range []*auth.Session{first, next} {
			who, err := s.Verify(t.Context(), one.AccessToken)
			if err != nil || who.Client != tc.client {
				t.Errorf("%s: client %q, %v; want %q", name, who.Client, err, tc.client)
			}
		}
		if next.RefreshUntil.After(first.RefreshUntil.Add(time.Second)) {
			t.Errorf("%s: a refresh prolongs the session from %v to %v", name, first.RefreshUntil, next.RefreshUntil)
		}
	}
}

func TestARefreshTokenOfAnotherClientIsUnknownAndUnharmed(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	bearer, console := login(t, s), consoleLogin(t, s)
	for name, tc := range map[string]struct {
		token string
		wrong auth.Client
		right auth.Client
	}{
		"bearer":  {bearer.RefreshToken, auth.Console, auth.AnyClient},
		"console": {console.RefreshToken, auth.AnyClient, auth.Console},
	} {
		for range 2 {
			_, err := s.Refresh(t.Context(), tc.token, tc.wrong, auth.Device{}, ignored)
			if !fault.Is(err, fault.InvalidToken) {
				t.Errorf("%s: %v; want invalid_token", name, err)
			}
		}
		if _, err := s.Refresh(t.Context(), tc.token, tc.right, auth.Device{}, ignored); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAConsoleAccessTokenNeverYieldsARefreshToken(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	_, org := h.person(t, s)
	who, err := s.Verify(t.Context(), consoleLogin(t, s).AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Switch(t.Context(), who, org, auth.Device{}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("switch: %v; want forbidden", err)
	}
}

func TestSwitchingTheConsoleRetiresTheSessionThatItLeaves(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, _ := h.person(t, s)
	second := h.org(t, "Second")
	h.seat(t, second, user, auth.Viewer)
	left := consoleLogin(t, s)
	next, err := s.SwitchConsole(t.Context(), left.RefreshToken, second, auth.Device{}, ignored)
	if err != nil {
		t.Fatal(err)
	}
	if next.Org != second || next.Role != auth.Viewer || next.Client != auth.Console {
		t.Errorf("have org %v, role %q, client %q", next.Org, next.Role, next.Client)
	}
	if _, err := s.Verify(t.Context(), left.AccessToken); err != nil {
		t.Errorf("the access token that other tabs use: %v", err)
	}
	again, err := s.Refresh(t.Context(), left.RefreshToken, auth.Console, auth.Device{}, ignored)
	if err != nil {
		t.Fatalf("a browser that lost the response: %v", err)
	}
	if left := again.RefreshUntil.Sub(next.RefreshUntil.AddDate(0, 0, -30)); left > 16*time.Minute {
		t.Errorf("the session left behind ends in %v", left)
	}
}

func TestSwitchingTheConsoleWithAReusedTokenEndsItsFamily(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, org := h.person(t, s)
	first := consoleLogin(t, s)
	for token := first.RefreshToken; ; { // the second refresh takes the first token's grace away
		one, err := s.Refresh(t.Context(), token, auth.Console, auth.Device{}, ignored)
		if err != nil {
			t.Fatal(err)
		}
		if token != first.RefreshToken {
			break
		}
		token = one.RefreshToken
	}
	var of id.ID
	_, err := s.SwitchConsole(t.Context(), first.RefreshToken, org, auth.Device{}, func(_ *postgres.Tx, u id.ID) error {
		of = u
		return nil
	})
	if !fault.Is(err, fault.InvalidToken) || of != user {
		t.Errorf("switch with a reused token: %v, reported user %v; want invalid_token, %v", err, of, user)
	}
	if _, err := h.service(nil).Verify(t.Context(), first.AccessToken); !fault.Is(err, fault.SessionEnded) {
		t.Errorf("access token after the reuse: %v; want session_ended", err)
	}
}

func TestALoginUnderACustomDomainLandsInItsOrgOrAClientOfIt(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, own := h.person(t, s) // the org used last
	agency := h.org(t, "Agency")
	h.seat(t, agency, user, auth.Member)
	try := func(home id.ID, asked *id.ID) (id.ID, error) {
		out, err := s.Login(t.Context(), auth.Credentials{
			Email: email, Password: password, IP: from("192.0.2.1"), Home: home, Org: asked,
		})
		if err != nil {
			return id.ID{}, err
		}
		return out.Org, nil
	}
	if got, err := try(agency, nil); got != agency || err != nil {
		t.Errorf("under the agency's domain: org %v, %v; want %v", got, err, agency)
	}
	if _, err := try(agency, &own); !fault.Is(err, fault.InvalidCredentials) {
		t.Errorf("asking for an unrelated org: %v; want invalid_credentials", err)
	}
	if _, err := try(id.New(), nil); !fault.Is(err, fault.InvalidCredentials) {
		t.Errorf("under a stranger's domain: %v; want invalid_credentials", err)
	}
	h.super(t, `UPDATE org SET parent_org_id = $2 WHERE id = $1`, own, agency)
	if got, err := try(agency, &own); got != own || err != nil {
		t.Errorf("asking for a client org: org %v, %v; want %v", got, err, own)
	}
}
