package auth_test

import (
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// renew uses a refresh token and appends a reuse to seen.
func renew(t *testing.T, s *auth.Service, token string, seen *[]id.ID) (*auth.Session, error) {
	t.Helper()
	return s.Refresh(t.Context(), token, auth.AnyClient, auth.Device{}, func(_ *postgres.Tx, user id.ID) error {
		*seen = append(*seen, user)
		return nil
	})
}

func TestReuseOfARefreshTokenRevokesItsFamily(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, _ := h.person(t, s)
	stolen, other := login(t, s), login(t, s)
	var seen []id.ID
	second, err := renew(t, s, stolen.RefreshToken, &seen)
	if err != nil {
		t.Fatal(err)
	}
	if second.RefreshToken == stolen.RefreshToken {
		t.Fatal("the refresh token is still the first one")
	}
	if second.User.ID != user {
		t.Fatalf("user %v, want %v", second.User.ID, user)
	}
	if second.Role != auth.Owner {
		t.Fatalf("role %v, want %v", second.Role, auth.Owner)
	}
	third, err := renew(t, s, second.RefreshToken, &seen)
	if err != nil {
		t.Fatal(err)
	}
	// Within the grace period, but two generations old.
	if _, err := renew(t, s, stolen.RefreshToken, &seen); !fault.Is(err, fault.InvalidToken) {
		t.Errorf("a reuse: %v", err)
	}
	if len(seen) != 1 || seen[0] != user {
		t.Errorf("reuse reported as %v", seen)
	}
	for name, token := range map[string]string{
		"the newest": third.RefreshToken, "the middle": second.RefreshToken,
		"the first": stolen.RefreshToken,
	} {
		if _, err := renew(t, s, token, &seen); !fault.Is(err, fault.InvalidToken) {
			t.Errorf("%s token of a revoked family: %v", name, err)
		}
	}
	if _, err := renew(t, s, other.RefreshToken, &seen); err != nil {
		t.Errorf("another login of the same person: %v", err)
	}
}

func TestALostAnswerIsGivenAgainForTenSecondsToTheImmediatePredecessorAlone(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	var seen []id.ID
	first := login(t, s)
	lost, err := renew(t, s, first.RefreshToken, &seen)
	if err != nil {
		t.Fatal(err)
	}
	again, err := renew(t, s, first.RefreshToken, &seen)
	if err != nil || again.RefreshToken != lost.RefreshToken {
		t.Fatalf("again %v; want the same successor", err)
	}
	if _, err := s.Verify(t.Context(), again.AccessToken); err != nil {
		t.Errorf("its access token: %v", err)
	}
	h.super(t, `UPDATE refresh_token SET used_at = used_at - interval '11 seconds' WHERE used_at IS NOT NULL`)
	if _, err := renew(t, s, first.RefreshToken, &seen); !fault.Is(err, fault.InvalidToken) || len(seen) != 1 {
		t.Errorf("after the grace: %v, %d reuses; want a reuse", err, len(seen))
	}
	if _, err := renew(t, s, lost.RefreshToken, &seen); !fault.Is(err, fault.InvalidToken) {
		t.Errorf("the successor of a reused token: %v", err)
	}
}

func TestRefreshesAtOnceLeadToOneSuccessor(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	first := login(t, s)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		next = map[string]int{}
	)
	for range 20 {
		wg.Go(func() {
			out, err := s.Refresh(
				t.Context(),
				first.RefreshToken,
				auth.AnyClient,
				auth.Device{},
				func(*postgres.Tx, id.ID) error {
					return nil
				},
			)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("one of many at once: %v", err)
				return
			}
			next[out.RefreshToken]++
		})
	}
	wg.Wait()
	if len(next) != 1 {
		t.Errorf("%d successors, want 1", len(next))
	}
}

func TestASessionEnds(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, org := h.person(t, s)
	var seen []id.ID
	for name, end := range map[string]func(out *auth.Session){
		"by logout": func(out *auth.Session) {
			if err := s.Logout(t.Context(), out.RefreshToken); err != nil {
				t.Fatal(err)
			}
		},
		"by logout with a used token": func(out *auth.Session) {
			next, err := renew(t, s, out.RefreshToken, &seen)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Logout(t.Context(), out.RefreshToken); err != nil {
				t.Fatal(err)
			}
			out.RefreshToken = next.RefreshToken
		},
		"after thirty days": func(*auth.Session) {
			h.super(t, `UPDATE refresh_token SET expires_at = expires_at - interval '30 days 1 second'`)
		},
		"with the membership": func(*auth.Session) {
			err := h.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				auth.EndSessions(tx, user)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		out := login(t, s)
		end(out)
		if _, err := renew(t, s, out.RefreshToken, &seen); !fault.Is(err, fault.InvalidToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "x", "fr_x"} {
		if err := s.Logout(t.Context(), text); err != nil {
			t.Errorf("logout with %q: %v", text, err)
		}
	}
}

func TestARemovedMemberIsOutWithinASecond(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, org := h.person(t, s)
	out := login(t, s)
	if who, err := s.Verify(t.Context(), out.AccessToken); err != nil || who.Role != auth.Owner {
		t.Fatalf("%+v, %v", who, err)
	}
	h.exec(t, org, `UPDATE member SET role = 'viewer' WHERE org_id = $1 AND user_id = $2`, org, user)
	within(t, func() bool {
		who, err := s.Verify(t.Context(), out.AccessToken)
		return err == nil && who.Role == auth.Viewer
	})
	h.exec(t, org, `UPDATE member SET removed_at = now() WHERE org_id = $1 AND user_id = $2`, org, user)
	within(t, func() bool {
		_, err := s.Verify(t.Context(), out.AccessToken)
		return fault.Is(err, fault.SessionEnded)
	})
	var seen []id.ID
	if _, err := renew(t, s, out.RefreshToken, &seen); !fault.Is(err, fault.InvalidToken) {
		t.Errorf("a removed member's refresh token: %v", err)
	}
	if _, err := s.Login(t.Context(),
		auth.Credentials{Email: "ada@example.com", Password: password, IP: from("192.0.2.1")}); !fault.Is(err,
		fault.InvalidCredentials) {
		t.Errorf("a removed member's login: %v", err)
	}
	h.exec(t, org, `UPDATE member SET removed_at = NULL WHERE org_id = $1 AND user_id = $2`, org, user)
	s.Forget(org, user)
	if _, err := s.Verify(t.Context(), out.AccessToken); !fault.Is(err, fault.SessionEnded) {
		t.Errorf("a member again, by a token from before: %v", err)
	}
	next := login(t, s)
	if who, err := s.Verify(t.Context(), next.AccessToken); err != nil || who.Role != auth.Viewer {
		t.Errorf("a member again: %+v, %v", who, err)
	}
	h.exec(t, org, `UPDATE member SET role = 'admin' WHERE org_id = $1 AND user_id = $2`, org, user)
	s.Forget(org, user)
	if who, err := s.Verify(t.Context(), next.AccessToken); err != nil || who.Role != auth.Admin {
		t.Errorf("once forgotten, the database is asked at once: %+v, %v", who, err)
	}
}

func TestAChangedRoleActsInAnotherProcessWellWithinASecond(t *testing.T) {
	t.Parallel()
	h := build(t)
	here, there := h.service(nil), h.service(nil)
	user, org := h.person(t, here)
	out := login(t, here)
	for _, role := range []auth.Role{auth.Viewer, auth.Admin, auth.Member} {
		if _, err := there.Verify(t.Context(), out.AccessToken); err != nil { // the other process has just cached it
			t.Fatal(err)
		}
		h.exec(t, org, `UPDATE member SET role = $3 WHERE org_id = $1 AND user_id = $2`, org, user, string(role))
		within(t, func() bool {
			who, err := there.Verify(t.Context(), out.AccessToken)
			return err == nil && who.Role == role
		})
	}
}

func TestARevokedAPIKeyIsOutWithinASecond(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, org := h.person(t, s)
	key, hash := auth.NewAPIKey(org)
	row := id.New()
	h.super(t,
		`INSERT INTO api_key (org_id, id, name, role, hint, hash, created_by)
			VALUES ($1, $2, 'k', 'member', 'abcd', $3, $4)`, org, row, hash, user)
	who, err := s.Verify(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if !who.IsKey() {
		t.Fatalf("%+v is not a key", who)
	}
	if who.Key != row {
		t.Fatalf("key %v, want %v", who.Key, row)
	}
	if who.Org != org {
		t.Fatalf("org %v, want %v", who.Org, org)
	}
	if who.Role != auth.Member {
		t.Fatalf("role %v, want %v", who.Role, auth.Member)
	}
	if !who.User.IsZero() {
		t.Fatalf("user %v, want none", who.User)
	}
	var used *time.Time
	if err := h.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT last_used_at FROM api_key WHERE org_id = $1`, []any{org}, &used)
	}); err != nil || used == nil {
		t.Errorf("last use %v, %v; want a trace", used, err)
	}
	h.super(t, `UPDATE api_key SET revoked_at = now()`)
	within(t, func() bool {
		_, err := s.Verify(t.Context(), key)
		return fault.Is(err, fault.InvalidToken)
	})
	if other, _ := auth.NewAPIKey(org); true {
		if _, err := s.Verify(t.Context(), other); !fault.Is(err, fault.InvalidToken) {
			t.Errorf("a made up key: %v", err)
		}
	}
}

// within fails unless done is true for something that begins within 20 seconds. The contract is a second, on a machine
// that is not busy.
func within(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		began := time.Now()
		if done() {
			return
		}
		if began.After(end) {
			t.Error("not within 20 seconds")
			return
		}
	}
}
