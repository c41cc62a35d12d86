package worker_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/accountnotify"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
	"github.com/funnelwork/funnelwork/jobs/tokenrefresh"
	"github.com/funnelwork/funnelwork/jobs/tokensweep"
	"github.com/funnelwork/funnelwork/worker"
)

// logins is an org with an owner and logins at the OAuth sandbox.
type logins struct {
	*house
	sandbox   *oauth.Sandbox
	box       *secret.Sealer
	service   *social.Service
	refresher *social.Refresher
}

// logged makes logins at the given provider families.
func logged(t *testing.T, families ...string) *logins {
	t.Helper()
	l := &logins{house: open(t), sandbox: oauth.New(oauth.Options{})}
	server := httptest.NewServer(l.sandbox.Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		l.sandbox.Close()
	})
	l.box = testkit.Box(t)
	apps := map[string]provider.App{}
	for _, family := range families {
		client, password := oauth.Client(family)
		apps[family] = provider.App{
			ClientID: client, ClientSecret: provider.Secret(password),
			Base: server.URL + oauth.Path,
		}
	}
	l.service = jobs.Social(social.Options{
		Providers: provider.New(provider.Options{Apps: apps}), Box: l.box,
		PublicURL: "http://test",
	})
	l.refresher = social.NewRefresher(social.RefreshOptions{
		Service: l.service, App: l.db.App, System: l.db.System,
		Log: l.log,
	})
	l.exec("INSERT INTO org (id, name) VALUES ($1, 'Test')", l.org)
	owner := id.New()
	l.exec("INSERT INTO app_user (id, email, email_folded) VALUES ($1, 'owner@example.com', 'owner@example.com')",
		owner)
	l.exec("INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, 'owner')", l.org, owner)
	return l
}

// login makes a person's login at a platform, with an account and one hour of access.
func (l *logins) login(platform, person string) (grant id.ID, there oauth.Grant) {
	l.t.Helper()
	p, err := l.service.Providers.Get(platform)
	if err != nil {
		l.t.Fatal(err)
	}
	if there, err = l.sandbox.Issue(l.t.Context(), p.Family, person, p.Scopes...); err != nil {
		l.t.Fatal(err)
	}
	grant = id.New()
	seal := func(token, field string) []byte {
		if token == "" {
			return nil
		}
		sealed, err := l.box.Seal([]byte(token), "grant|"+l.org.String()+"|"+grant.String()+"|"+field)
		if err != nil {
			l.t.Fatal(err)
		}
		return sealed
	}
	l.exec(`INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, scopes, sealed_access,
		sealed_refresh, granted_at, issued_at, access_expires_at, refresh_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now(), now(), now() + interval '1 hour', now())`,
		l.org, grant, platform, string(p.Kind), p.ClientID(), there.Subject, p.Scopes, seal(there.Access, "access"),
		seal(there.Refresh, "refresh"))
	l.exec("INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id, display_name, "+
		"connected_at) VALUES ($1, $2, $3, $4, $5, $6, $7, now())",
		l.org, id.New(), platform, string(p.Kind), there.Subject, grant, person)
	return grant, there
}

// TestADeadLoginIsAnnouncedWithinAMinuteAndALivingOneRenewed runs two logins, one of them revoked by its owner, through
// the whole path: a sweep, a job each, the provider, and then status, event, audit and mail.
func TestADeadLoginIsAnnouncedWithinAMinuteAndALivingOneRenewed(t *testing.T) {
	t.Parallel()
	h := logged(t, "x")
	dead, there := h.login("x", "dead")
	living, _ := h.login("x", "living")
	if err := h.sandbox.Kill(t.Context(), there.ID, "revoked"); err != nil {
		t.Fatal(err)
	}
	handlers := []queue.Handler{
		tokenrefresh.Job{Refresher: h.refresher}.Handler(), tokensweep.Job{Refresher: h.refresher}.Handler(),
		accountnotify.Job{Box: h.box, Social: h.service}.Handler(),
		mailsystem.Kind.Handle(mailsystem.Job{DB: h.db.App, Box: h.box}.Work),
	}
	h.work(worker.Options{}, handlers...)
	began := time.Now()
	h.addFor(id.ID{}, func(ctx context.Context, tx *postgres.Tx) error {
		return tokensweep.Kind.Add(ctx, tx, tokensweep.Args{})
	})
	var status, reason, renewed string
	var mails, events, audits, open int
	for deadline := time.Now().Add(2 * time.Minute); mails == 0 || renewed != "active 0" ||
		open > 0; <-time.After(50 * time.Millisecond) {
		err := h.sql.QueryRow(t.Context(),
			`SELECT g.status, g.reason, (SELECT status || ' ' || fail_count FROM social_grant WHERE id = $2
				AND version > 1 AND attempt_state IS NULL
				UNION ALL SELECT '' LIMIT 1),
				(SELECT count(*) FROM sandbox_mail WHERE org_id = $3), (SELECT count(*) FROM event
				WHERE org_id = $3 AND type = 'social_account.reauth_required'),
				(SELECT count(*) FROM audit_log WHERE org_id = $3
				AND action = 'social_grant.reauth_required'), (SELECT count(*) FROM job)
			FROM social_grant g WHERE g.id = $1`, dead, living, h.org).Scan(&status, &reason, &renewed, &mails,
			&events, &audits, &open)
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			break
		}
	}
	type facts struct {
		Status, Renewed             string
		Mails, Events, Audits, Jobs int
	}
	if diff := cmp.Diff(facts{"reauth_required", "active 0", 1, 1, 1, 0},
		facts{status, renewed, mails, events, audits, open}); diff != "" {
		t.Errorf("the grants (-want +got):\n%s", diff)
	}
	if reason == "" {
		t.Error("the grant that failed has no reason")
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("announced after %s", took)
	}
	counts, err := h.sandbox.Counts(t.Context())
	if err != nil || counts["x"]["token"] != 2 {
		t.Errorf("%v requests, %v", counts, err)
	}
}
