package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// newInstallation returns a process with a database and a keyset of its own.
func newInstallation(t *testing.T) (p *process, url string) {
	t.Helper()
	db := testkit.DB(t)
	p = (&settings{}).newProcess("api", testkit.Log(t))
	p.app = db.App
	p.system = db.System
	p.box = testkit.Box(t)
	p.auth = auth.New(auth.Options{System: db.System, App: db.App, Box: p.box, Issuer: "http://api.test", Log: p.log})
	return p, db.URL
}

func TestAProcessIsNotReadyOnceItsKeysetLacksAKey(t *testing.T) {
	t.Parallel()
	p, db := newInstallation(t)
	if err := p.checkKeyset(t.Context()); err != nil {
		t.Fatal(err)
	}
	sql := testkit.Pgx(t, db)
	if _, err := sql.Exec(t.Context(), `INSERT INTO sealing_key (id, promoted_at) VALUES (4242, now())`); err != nil {
		t.Fatal(err)
	}
	if err := p.checkKeyset(t.Context()); !errors.Is(err, ops.ErrKeyset) {
		t.Errorf("%v, want ErrKeyset", err)
	}
}

func TestThePublicURLIsOursIfItPublishesAKeyOfOurs(t *testing.T) {
	t.Parallel()
	ours, _ := newInstallation(t)
	other, _ := newInstallation(t)
	serve := func(p *process) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			keys, err := p.auth.PublicKeys(r.Context())
			if err != nil || r.URL.Path != "/.well-known/jwks.json" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<h1>It works</h1>"))
	}))
	t.Cleanup(page.Close)
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()

	if err := ours.tryPublicURL(t.Context(), serve(ours), time.Millisecond); err != nil {
		t.Errorf("our own: %v", err)
	}
	for name, base := range map[string]string{"another installation": serve(other), "another service": page.URL} {
		if err := ours.tryPublicURL(t.Context(), base, time.Millisecond); !errors.Is(err, errNotOurs) {
			t.Errorf("%s: %v, want errNotOurs", name, err)
		}
	}
	if err := ours.tryPublicURL(t.Context(), away.URL, time.Millisecond); err == nil || errors.Is(err, errNotOurs) {
		t.Errorf("nothing there: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := ours.tryPublicURL(ended, serve(ours), time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("while the process ends: %v", err)
	}
}
