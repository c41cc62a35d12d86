package auth_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// unaudited is a change of an account without an entry of the audit log.
func unaudited(*postgres.Tx, id.ID) error { return nil }

func TestADisabledUserIsOutUntilEnabled(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	in := auth.Credentials{Email: email, Password: password, IP: netip.MustParseAddr("192.0.2.1")}
	session, err := s.Login(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Disable(t.Context(), " ADA@example.com ", unaudited); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Login(t.Context(), in); !fault.Is(err, fault.InvalidCredentials) {
		t.Errorf("a disabled user logs in: %v", err)
	}
	if _, err := s.Refresh(t.Context(), session.RefreshToken, auth.Client(""), auth.Device{}, unaudited); err == nil {
		t.Error("the session of a disabled user goes on")
	}
	// A session that begins at that moment, such as by an invitation, has no token that is stored.
	begun := &auth.Session{User: session.User, Org: session.Org, Role: session.Role}
	if err := h.System.Tx(t.Context(), session.Org, func(tx *postgres.Tx) error {
		return s.Begin(t.Context(), tx, begun)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refresh(t.Context(), begun.RefreshToken, auth.Client(""), auth.Device{}, unaudited); err == nil {
		t.Error("a disabled user begins a session")
	}
	if err := s.Enable(t.Context(), email, unaudited); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Login(t.Context(), in); err != nil {
		t.Errorf("an enabled user: %v", err)
	}
}

func TestAPasswordThatAnOperatorSetsEndsTheSessions(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	in := auth.Credentials{Email: email, Password: password, IP: netip.MustParseAddr("192.0.2.1")}
	session, err := s.Login(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetPassword(t.Context(), email, "another one", unaudited); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refresh(t.Context(), session.RefreshToken, auth.Client(""), auth.Device{}, unaudited); err == nil {
		t.Error("a session of the old password goes on")
	}
	if _, err := s.Login(t.Context(), in); !fault.Is(err, fault.InvalidCredentials) {
		t.Errorf("the old password: %v", err)
	}
	in.Password = "another one"
	if _, err := s.Login(t.Context(), in); err != nil {
		t.Errorf("the new password: %v", err)
	}
	if err := s.SetPassword(t.Context(), "nobody@example.com", "x", unaudited); !errors.Is(err, auth.ErrNoUser) {
		t.Errorf("an unknown address: %v, want %v", err, auth.ErrNoUser)
	}
}

func TestAccountsAreListedWithTheirOrgs(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, org := h.person(t, s)
	second := h.org(t, "Second")
	h.seat(t, second, user, auth.Viewer)
	for _, search := range []string{"", "ADA@", "ada l"} {
		all, err := s.Accounts(t.Context(), search, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].ID != user || all[0].DisabledAt != nil || len(all[0].Orgs) != 2 ||
			all[0].Orgs[0].ID != org || all[0].Orgs[1].Role != auth.Viewer {
			t.Errorf("search %q: %+v", search, all)
		}
	}
	if all, err := s.Accounts(t.Context(), "grace", 10); err != nil || len(all) != 0 {
		t.Errorf("another name: %+v, %v", all, err)
	}
}
