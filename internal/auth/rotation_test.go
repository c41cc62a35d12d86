package auth_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
)

func TestAKeyRotationFailsNoRequestInAnyProcess(t *testing.T) {
	t.Parallel()
	h := build(t)
	short := func(o *auth.Options) { o.Lead, o.Reload = 300*time.Millisecond, 100*time.Millisecond }
	a, b := h.service(short), h.service(short)
	h.person(t, a)
	first := login(t, a)
	before, err := b.PublicKeys(t.Context())
	if err != nil || len(before) != 1 {
		t.Fatalf("%v, %v; want one key", before, err)
	}
	var (
		wg       sync.WaitGroup
		requests atomic.Int64
		rotated  atomic.Bool
		done     = make(chan struct{})
	)
	refresh := first
	// One process issues tokens; both verify all tokens issued so far, continuously.
	for _, s := range []*auth.Service{a, b} {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := s.Verify(t.Context(), first.AccessToken); err != nil {
					t.Errorf("the first token: %v", err)
					return
				}
				requests.Add(1)
			}
		})
	}
	kids := map[string]bool{}
	for deadline := time.Now().Add(5 * time.Minute); len(kids) < 2; {
		next, err := a.Refresh(t.Context(), refresh.RefreshToken, auth.AnyClient, auth.Device{}, nil)
		if err != nil {
			t.Fatalf("refresh during a rotation: %v", err)
		}
		refresh = next
		for name, s := range map[string]*auth.Service{"a": a, "b": b} {
			if _, err := s.Verify(t.Context(), next.AccessToken); err != nil {
				t.Fatalf("process %s refuses a fresh token during a rotation: %v", name, err)
			}
		}
		kids[kidOf(t, next.AccessToken)] = true
		if rotated.CompareAndSwap(false, true) {
			if err := b.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			published, err := h.service(short).PublicKeys(t.Context())
			if err != nil || len(published) != 2 {
				t.Fatalf("%v, %v; want the next key published before its use", published, err)
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the new key never signed")
		}
	}
	close(done)
	wg.Wait()
	if requests.Load() == 0 {
		t.Error("no request was made meanwhile")
	}
}

func TestATokenOfAKeyJustMadeElsewhereIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	h := build(t)
	slow := func(o *auth.Options) { o.Reload = time.Hour }
	a := h.service(slow)
	h.person(t, a)
	if _, err := a.Verify(t.Context(), login(t, a).AccessToken); err != nil {
		t.Fatal(err)
	}
	b := h.service(func(o *auth.Options) { o.Lead = time.Nanosecond })
	if err := b.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh := login(t, b)
	if _, err := a.Verify(t.Context(), fresh.AccessToken); err != nil {
		t.Errorf("a key that this process has not read yet: %v", err)
	}
}

func TestANewKeyIsPublishedWithinSeconds(t *testing.T) {
	t.Parallel()
	h := build(t)
	a := h.service(func(o *auth.Options) { o.Reload = time.Hour })
	for want := 1; want <= 2; want++ {
		deadline := time.Now().Add(30 * time.Second)
		for {
			keys, err := a.PublicKeys(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(keys) == want {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d keys are published, want %d", len(keys), want)
			}
			<-time.After(10 * time.Millisecond)
		}
		if err := h.service(nil).Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOldKeyGoesWhenNothingItSignedCanBeValid(t *testing.T) {
	t.Parallel()
	h := build(t)
	a := h.service(nil)
	h.person(t, a)
	old := login(t, a)
	if err := a.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := func(at string) int {
		// The app role may not update keys, so a superuser moves the times.
		h.super(t,
			`UPDATE signing_key SET use_at = now() - $1::interval WHERE use_at = (SELECT max(use_at)
				FROM signing_key)`, at)
		keys, err := h.service(nil).PublicKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(keys)
	}
	h.super(t,
		`UPDATE signing_key SET use_at = now() - interval '10 days' WHERE use_at = (SELECT min(use_at)
			FROM signing_key)`)
	if n := count("15 minutes"); n != 2 {
		t.Errorf("%d keys while a token of the old one may be valid, want 2", n)
	}
	if n := count("18 minutes"); n != 1 {
		t.Errorf("%d keys afterwards, want 1", n)
	}
	if _, err := h.service(nil).Verify(t.Context(), old.AccessToken); !fault.Is(err, fault.InvalidToken) {
		t.Errorf("a token of a key that is over: %v", err)
	}
}
