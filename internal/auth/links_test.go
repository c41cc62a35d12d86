package auth_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

func (h *house) link(t *testing.T, p auth.Purpose, email string) (token string) {
	t.Helper()
	err := h.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		token = auth.AddLink(tx, p, email)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func nothing(*postgres.Tx, id.ID) error { return nil }

func TestAResetLinkWorksOnceAndEndsAllSessions(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	user, _ := h.person(t, s)
	session := login(t, s)
	const fresh = "quite another password"
	token, later := h.link(t, auth.ResetPassword, "ada@example.com"), h.link(t, auth.ResetPassword, "ADA@example.com")
	verify := h.link(t, auth.VerifyEmail, "ada@example.com")
	for name, bad := range map[string]string{
		"a link of another purpose": verify, "nonsense": "fl_x", "": "",
		"unknown": h.link(t, auth.ResetPassword, "eve@example.com"),
	} {
		if err := s.Reset(t.Context(), bad, fresh, nothing); !fault.Is(err, fault.LinkExpired) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Reset(t.Context(), token, "short", nothing); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("a bad password: %v", err)
	}
	var whose id.ID
	if err := s.Reset(t.Context(), token, fresh, func(_ *postgres.Tx, u id.ID) error {
		whose = u
		return nil
	}); err != nil || whose != user {
		t.Fatalf("%v, %v", whose, err)
	}
	if err := s.Reset(t.Context(), token, fresh, nothing); !fault.Is(err, fault.LinkExpired) {
		t.Errorf("the second use: %v", err)
	}
	if err := s.Reset(t.Context(), later, fresh, nothing); !fault.Is(err, fault.LinkExpired) {
		t.Errorf("another link from before the password was set: %v", err)
	}
	var seen []id.ID
	if _, err := renew(t, s, session.RefreshToken, &seen); !fault.Is(err, fault.InvalidToken) {
		t.Errorf("a session from before: %v", err)
	}
	for text, ok := range map[string]bool{password: false, fresh: true} {
		_, err := s.Login(t.Context(),
			auth.Credentials{Email: "ada@example.com", Password: text, IP: from("192.0.2.1")})
		if (err == nil) != ok {
			t.Errorf("login with %q: %v", text, err)
		}
	}
}

func TestALinkEndsWithItsTime(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	reset, verify := h.link(t, auth.ResetPassword, "ada@example.com"), h.link(t, auth.VerifyEmail, "ada@example.com")
	h.super(t, `UPDATE user_token SET expires_at = expires_at - interval '61 minutes'`)
	if err := s.Reset(t.Context(), reset, "quite another password", nothing); !fault.Is(err, fault.LinkExpired) {
		t.Errorf("a reset link after an hour: %v", err)
	}
	if err := s.Confirm(t.Context(), verify); err != nil {
		t.Errorf("a verify link after an hour: %v", err)
	}
	if err := s.Confirm(t.Context(), verify); !fault.Is(err, fault.LinkExpired) {
		t.Errorf("its second use: %v", err)
	}
}

func TestChangingAPasswordKeepsOnlyTheSessionThatChangedIt(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.service(nil)
	h.person(t, s)
	mine, other := login(t, s), login(t, s)
	who, err := s.Verify(t.Context(), mine.AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	const fresh = "quite another password"
	change := func(old, fresh string) error {
		return s.ChangePassword(t.Context(), who, old, fresh, from("192.0.2.1"), nothing)
	}
	if f := fault.Of(change("wrong", fresh)); f == nil || f.Fields[0].Pointer != "#/old_password" {
		t.Errorf("a wrong old password: %v", f)
	}
	if f := fault.Of(change(password, "short")); f == nil || f.Fields[0].Pointer != "#/new_password" {
		t.Errorf("a bad new password: %v", f)
	}
	if err := change(password, fresh); err != nil {
		t.Fatal(err)
	}
	var seen []id.ID
	if _, err := renew(t, s, other.RefreshToken, &seen); !fault.Is(err, fault.InvalidToken) {
		t.Errorf("the other session: %v", err)
	}
	if _, err := renew(t, s, mine.RefreshToken, &seen); err != nil {
		t.Errorf("the session that changed it: %v", err)
	}
}

func TestAMailThatAnybodyCanAskForIsSentFiveTimesAnHourToOneCallerAndTwentyTimesADayInAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := auth.New(auth.Options{})
		may := func(ip string) bool { return s.MayMail(t.Context(), "Ada@example.com", from(ip)) }
		for i := range 50 {
			if got := may("203.0.113.1"); got != (i < 5) {
				t.Errorf("mail %d of a stranger: %v", i+1, got)
			}
		}
		for i := range 6 {
			if got := may("203.0.113.2"); got != (i < 5) {
				t.Errorf("mail %d of another caller, after 50 calls of the stranger: %v", i+1, got)
			}
		}
		if !s.MayMail(t.Context(), "bob@example.com", from("203.0.113.1")) {
			t.Error("another address is counted with the first")
		}
		<-time.After(time.Hour)
		if !may("203.0.113.1") {
			t.Error("none after an hour")
		}
		sent := 11
		for i := range 30 {
			if may(fmt.Sprintf("198.51.100.%d", i)) {
				sent++
			}
		}
		if sent != 20 {
			t.Errorf("%d mails in a day, want 20", sent)
		}
		<-time.After(24 * time.Hour)
		if !may("203.0.113.1") {
			t.Error("none after a day")
		}
	})
}

func TestNobodyWithoutALinkMakesTheServiceHashAPassword(t *testing.T) {
	t.Parallel()
	h := build(t)
	reg := prometheus.NewRegistry()
	s := h.service(func(o *auth.Options) { o.Metrics = auth.NewMetrics(reg) })
	h.person(t, s)
	used, expired := h.link(t, auth.ResetPassword, email), h.link(t, auth.ResetPassword, email)
	verify := h.link(t, auth.VerifyEmail, email)
	unknown := h.link(t, auth.ResetPassword, "eve@example.com")
	if err := s.Reset(t.Context(), used, "quite another password", nothing); err != nil {
		t.Fatal(err)
	}
	h.super(t, `UPDATE user_token SET expires_at = now() WHERE purpose = 'reset_password'`)
	before := hashed(t, reg)
	for name, token := range map[string]string{
		"used": used, "expired": expired, "of another purpose": verify, "of nobody": unknown, "malformed": "fl_x",
	} {
		if err := s.Reset(t.Context(), token, "one more good password", nothing); !fault.Is(err, fault.LinkExpired) {
			t.Errorf("a link that is %s: %v", name, err)
		}
	}
	if n := hashed(t, reg) - before; n != 0 {
		t.Errorf("%v passwords were hashed for links that do not count", n)
	}
}
