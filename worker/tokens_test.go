package worker_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/accounttell"
	"github.com/funnelwork/funnelwork/jobs/systemmail"
	"github.com/funnelwork/funnelwork/jobs/tokenrefresh"
	"github.com/funnelwork/funnelwork/worker"
)

// TestADeadLoginIsAnnouncedWithinAMinuteAndALivingOneRenewed takes two logins, of one of which its owner has taken the rights back,
// the whole way: a sweep, a job each, the provider, and then status, event, audit and mail.
func TestADeadLoginIsAnnouncedWithinAMinuteAndALivingOneRenewed(t *testing.T) {
	t.Parallel()
	h := open(t)
	sandbox := oauth.New(oauth.Options{})
	server := httptest.NewServer(sandbox.Handler())
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); sandbox.Close() })
	text, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	client, password := oauth.Client("x")
	apps := map[string]provider.App{"x": {ClientID: client, ClientSecret: provider.Secret(password), Base: server.URL + oauth.Path}}
	service := jobs.Social(social.Options{Providers: provider.New(provider.Options{Apps: apps}), Box: box, PublicURL: "http://test"})
	h.exec("INSERT INTO org (id, name) VALUES ($1, 'Test')", h.org)
	owner := id.New()
	h.exec("INSERT INTO app_user (id, email, email_folded) VALUES ($1, 'owner@example.com', 'owner@example.com')", owner)
	h.exec("INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, 'owner')", h.org, owner)
	grants := map[string]id.ID{}
	for _, person := range []string{"dead", "living"} {
		g, err := sandbox.Issue(t.Context(), "x", person, "users.read", "offline.access")
		if err != nil {
			t.Fatal(err)
		}
		one := id.New()
		grants[person] = one
		seal := func(token, field string) []byte {
			sealed, err := box.Seal([]byte(token), "grant|"+h.org.String()+"|"+one.String()+"|"+field)
			if err != nil {
				t.Fatal(err)
			}
			return sealed
		}
		h.exec(`INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, sealed_access, sealed_refresh, granted_at, issued_at, access_expires_at, refresh_at)
			VALUES ($1, $2, 'x', 'social', $3, $4, $5, $6, now(), now(), now() + interval '1 hour', now())`, h.org, one, client, g.Subject, seal(g.Access, "access"), seal(g.Refresh, "refresh"))
		h.exec(`INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id, display_name, connected_at) VALUES ($1, $2, 'x', 'social', $3, $4, $5, now())`,
			h.org, id.New(), g.Subject, one, person)
		if person == "dead" {
			if err := sandbox.Kill(t.Context(), g.ID, "revoked"); err != nil {
				t.Fatal(err)
			}
		}
	}
	refresher := social.NewRefresher(social.RefreshOptions{Service: service, App: h.db.App, System: h.db.System, Log: h.log})
	handlers := append(tokenrefresh.Job{Refresher: refresher}.Handlers(), accounttell.Job{Box: box, Social: service}.Handler(),
		systemmail.Kind.Handle(systemmail.Job{DB: h.db.App, Box: box}.Work))
	h.work(worker.Options{}, handlers...)
	began := time.Now()
	h.addFor(id.ID{}, func(ctx context.Context, tx *postgres.Tx) error {
		return tokenrefresh.Sweep.Add(ctx, tx, tokenrefresh.SweepArgs{})
	})
	var status, reason, renewed string
	var mails, events, audits, open int
	for deadline := time.Now().Add(2 * time.Minute); mails == 0 || renewed != "active 0" || open > 0; <-time.After(50 * time.Millisecond) {
		err := h.sql.QueryRow(t.Context(), `SELECT g.status, g.reason, (SELECT status || ' ' || fail_count FROM social_grant WHERE id = $2 AND version > 1 AND attempt_state IS NULL
				UNION ALL SELECT '' LIMIT 1),
				(SELECT count(*) FROM sandbox_mail WHERE org_id = $3), (SELECT count(*) FROM event WHERE org_id = $3 AND type = 'social_account.reauth_required'),
				(SELECT count(*) FROM audit_log WHERE org_id = $3 AND action = 'social_grant.reauth_required'), (SELECT count(*) FROM job)
			FROM social_grant g WHERE g.id = $1`, grants["dead"], grants["living"], h.org).Scan(&status, &reason, &renewed, &mails, &events, &audits, &open)
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			break
		}
	}
	if status != "reauth_required" || reason == "" || mails != 1 || events != 1 || audits != 1 || renewed != "active 0" || open != 0 {
		t.Errorf("%s (%s), %d mails, %d events, %d audits; the other %q; %d jobs", status, reason, mails, events, audits, renewed, open)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("announced after %s", took)
	}
	counts, err := sandbox.Counts(t.Context())
	if err != nil || counts["x"]["token"] != 2 {
		t.Errorf("%v requests, %v", counts, err)
	}
}
