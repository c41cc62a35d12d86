package auth_test

import (
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// alive reports whether a process accepts a token. It fails for any error except session_ended.
func alive(t *testing.T, s *auth.Service, token string) bool {
	t.Helper()
	_, err := s.Verify(t.Context(), token)
	if err != nil && !fault.Is(err, fault.SessionEnded) {
		t.Fatalf("%v; want session_ended", err)
	}
	return err == nil
}

func TestAnAccessTokenEndsWithItsSessionInEveryProcess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end   func(t *testing.T, h *house, s *auth.Service, mine *auth.Session)
		other bool // whether another session of the user continues
	}{
		"logout": {func(t *testing.T, _ *house, s *auth.Service, mine *auth.Session) {
			if err := s.Logout(t.Context(), mine.RefreshToken); err != nil {
				t.Fatal(err)
			}
		}, true},
		"a change of the password by another session": {func(t *testing.T, _ *house, s *auth.Service, _ *auth.Session) {
			keep := login(t, s)
			who, err := s.Verify(t.Context(), keep.AccessToken)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.ChangePassword(t.Context(), who, password, "quite another password", from("192.0.2.1"),
				nothing); err != nil {
				t.Fatal(err)
			}
			if !alive(t, s, keep.AccessToken) {
				t.Error("the session that changed the password has ended")
			}
		}, false},
		"a reset of the password": {func(t *testing.T, h *house, s *auth.Service, _ *auth.Session) {
			if err := s.Reset(t.Context(), h.link(t, auth.ResetPassword, email), "quite another password",
				nothing); err != nil {
				t.Fatal(err)
			}
		}, false},
		"a reused refresh token": {func(t *testing.T, _ *house, s *auth.Service, mine *auth.Session) {
			var seen []id.ID
			second, err := renew(t, s, mine.RefreshToken, &seen)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := renew(t, s, second.RefreshToken, &seen); err != nil {
				t.Fatal(err)
			}
			if _, err := renew(t, s, mine.RefreshToken, &seen); err == nil {
				t.Fatal("the reuse was not detected")
			}
			if alive(t, s, second.AccessToken) {
				t.Error("the access token of the refreshed session goes on in the process that detected the reuse")
			}
		}, true},
		"its end in the list of sessions": {func(t *testing.T, _ *house, s *auth.Service, mine *auth.Session) {
			who, err := s.Verify(t.Context(), mine.AccessToken)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.EndSession(t.Context(), who.User, who.Session, func(*postgres.Tx) error {
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}, true},
		"the removal of the member": {func(t *testing.T, h *house, s *auth.Service, mine *auth.Session) {
			err := h.App.Tx(t.Context(), mine.Org, func(tx *postgres.Tx) error {
				auth.EndSessions(tx, mine.User.ID)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			s.Forget(mine.Org, mine.User.ID)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			here, there := h.service(nil), h.service(nil)
			h.person(t, here)
			mine, other := login(t, here), login(t, here)
			for _, s := range []*auth.Service{here, there} {
				if !alive(t, s, mine.AccessToken) || !alive(t, s, other.AccessToken) {
					t.Fatal("a session does not begin")
				}
			}
			tc.end(t, h, here, mine)
			if alive(t, here, mine.AccessToken) {
				t.Error("the token goes on in the process that ended the session")
			}
			within(t, func() bool { return !alive(t, there, mine.AccessToken) })
			if tc.other {
				if !alive(t, h.service(nil), other.AccessToken) {
					t.Error("the person's other session has ended with it")
				}
				return
			}
			within(t, func() bool { return !alive(t, there, other.AccessToken) })
		})
	}
}

func TestARefreshKeepsTheSessionOfItsAccessTokens(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	first := login(t, s)
	var seen []id.ID
	second, err := renew(t, s, first.RefreshToken, &seen)
	if err != nil {
		t.Fatal(err)
	}
	before, errs := s.Verify(t.Context(), first.AccessToken)
	after, err := s.Verify(t.Context(), second.AccessToken)
	if err != nil || errs != nil {
		t.Fatal(err, errs)
	}
	if before.Session != after.Session {
		t.Errorf("sid %v before the refresh, %v after it", before.Session, after.Session)
	}
}

func TestASessionEndsThoughARefreshOfItIsOnItsWay(t *testing.T) {
	t.Parallel()
	h := build(t)
	here, there := h.service(nil), h.service(nil)
	_, org := h.person(t, here)
	for name, end := range map[string]func(*auth.Session) error{
		"logout": func(mine *auth.Session) error { return there.Logout(t.Context(), mine.RefreshToken) },
		"removal": func(mine *auth.Session) error {
			return h.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				auth.EndSessions(tx, mine.User.ID)
				return nil
			})
		},
	} {
		for range 25 {
			var (
				wg   sync.WaitGroup
				mine = login(t, here)
			)
			for range 3 {
				wg.Go(func() {
					next := mine
					for range 3 { // a chain, so that a token of every age is tested
						out, err := here.Refresh(t.Context(), next.RefreshToken, auth.AnyClient, auth.Device{}, nothing)
						if err != nil {
							return
						}
						next = out
					}
				})
			}
			wg.Go(func() {
				if err := end(mine); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			if alive(t, h.service(nil), mine.AccessToken) {
				t.Fatalf("%s: the session goes on", name)
			}
		}
	}
}

func TestALoginWithAPasswordThatIsBeingChangedLeavesNoSession(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	old := password
	for i := range 5 {
		fresh := password + string(rune('a'+i))
		link := h.link(t, auth.ResetPassword, email)
		var (
			wg  sync.WaitGroup
			out [4]*auth.Session
		)
		for j := range out {
			wg.Go(func() {
				out[j], _ = s.Login(t.Context(), auth.Credentials{Email: email, Password: old, IP: from("192.0.2.1")})
			})
		}
		wg.Go(func() {
			if err := s.Reset(t.Context(), link, fresh, nothing); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		for _, o := range out {
			if o != nil && alive(t, h.service(nil), o.AccessToken) {
				t.Fatal("a session that began with the former password goes on")
			}
		}
		old = fresh
	}
}
