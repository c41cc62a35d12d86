package emailsend_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/sentfolder"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit/imapd"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/jobs/emailsend"

	"github.com/emersion/go-smtp"
)

// connected is a post whose mailbox signs in with a connected account of the OAuth sandbox. The mail server accepts
// the tokens that the sandbox knows.
type connected struct {
	*post
	oauth  *oauth.Sandbox
	grant  oauth.Grant
	tokens mailboxes.TokenSource

	mu      sync.Mutex
	users   []string
	refused map[string]bool // tokens that the mail server refuses although they are alive
}

func connectAccount(t *testing.T, kind, platform, family string) *connected {
	t.Helper()
	c := &connected{post: open(t), oauth: oauth.New(oauth.Options{}), refused: map[string]bool{}}
	listener := httptest.NewServer(c.oauth.Handler())
	t.Cleanup(func() {
		listener.Close()
		c.oauth.Close()
	})
	client, password := oauth.Client(family)
	set := provider.New(provider.Options{Apps: map[string]provider.App{family: {
		ClientID: client, ClientSecret: provider.Secret(password), Base: listener.URL + oauth.Path,
	}}})
	p, err := set.Get(platform)
	if err != nil {
		t.Fatal(err)
	}
	if c.grant, err = c.oauth.Issue(t.Context(), family, "Ada Lovelace", p.Scopes...); err != nil {
		t.Fatal(err)
	}
	box := c.emails.Box
	org, grant, account := c.org, id.New(), id.New()
	seal := func(token, field string) []byte {
		sealed, err := box.Seal([]byte(token), "grant|"+org.String()+"|"+grant.String()+"|"+field)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	c.exec(`INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, sealed_access, sealed_refresh,
		granted_at, issued_at, access_expires_at, refresh_at, scopes) VALUES ($1, $2, $3, 'social', $4, $5, $6, $7,
		now(), now(), now() + interval '1 hour', now() + interval '40 minutes', $8)`, org, grant, platform, client,
		c.grant.Subject, seal(c.grant.Access, "access"), seal(c.grant.Refresh, "refresh"), p.Scopes)
	c.exec(`INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id, display_name,
		connected_at) VALUES ($1, $2, $3, 'social', $4, $5, 'ada', now())`, org, account, platform, c.grant.Subject,
		grant)
	c.server = smtpd.Start(t, func(s *smtpd.Server, _ *smtp.Server) { s.Token = c.knows })
	c.emails.Mailboxes.Own = map[string]mailboxes.OwnServers{
		kind: {SMTP: mailboxes.Address{Host: c.server.Host, Port: c.server.Port, TLS: mailboxes.NoTLS}},
	}
	c.exec(`UPDATE mailbox SET kind = $1, social_account_id = $2, smtp_host = '', smtp_port = 0`, kind, account)
	source := emailsend.Tokens(social.NewRefresher(social.RefreshOptions{
		Service: social.New(social.Options{
			Providers: set, Box: box,
			Audit:  func(context.Context, *postgres.Tx, social.Act) {},
			Revoke: func(context.Context, *postgres.Tx, id.ID, time.Time) error { return nil },
			Tell:   func(context.Context, *postgres.Tx, id.ID) error { return nil },
		}),
		App: c.App, System: c.System, Log: slog.New(slog.DiscardHandler), Lease: 5 * time.Second,
	}))
	// The sandbox stands for the provider here, and the test's server for the provider's.
	c.tokens = func(ctx context.Context, org, account id.ID, refused int64) (mailboxes.Token, error) {
		token, err := source(ctx, org, account, refused)
		if err == nil && !token.Sandboxed {
			t.Error("a token of the sandbox is taken for the provider's own")
		}
		token.Sandboxed = false
		return token, err
	}
	c.job.Token = c.tokens
	return c
}

// knows reports whether the mail server accepts a token.
func (c *connected) knows(user, token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users = append(c.users, user)
	g, err := c.oauth.Holder(context.WithoutCancel(c.Context()), token)
	return err == nil && g.Alive && !c.refused[token]
}

func TestAMailboxOfAConnectedAccountSignsInWithItsToken(t *testing.T) {
	t.Parallel()
	for kind, of := range map[string][2]string{
		mailboxes.Google: {"gmail", "google"}, mailboxes.Microsoft: {"outlook", "microsoft"},
	} {
		c := connectAccount(t, kind, of[0], of[1])
		email := c.write("bob@example.com")
		if err := c.run(t.Context(), email); err != nil || c.status(email) != "sent" || len(c.server.Accepted()) != 1 {
			t.Errorf("%s: %v, %s, %d accepted", kind, err, c.status(email), len(c.server.Accepted()))
		}
		if len(c.users) != 1 || c.users[0] != "hello@shop.example" {
			t.Errorf("%s signed in as %q", kind, c.users)
		}
	}
}

func TestATokenThatTheServerRefusesIsRenewedOnce(t *testing.T) {
	t.Parallel()
	c := connectAccount(t, mailboxes.Google, "gmail", "google")
	c.refused[c.grant.Access] = true
	email := c.write("bob@example.com")
	if err := c.run(t.Context(), email); err != nil || c.status(email) != "sent" || len(c.users) != 2 {
		t.Errorf("%v, %s, %d sign-ins", err, c.status(email), len(c.users))
	}
	g, err := c.oauth.Holder(t.Context(), c.grant.Access)
	if err != nil || g.Refreshes != 1 {
		t.Errorf("renewed %d times, %v", g.Refreshes, err)
	}
}

func TestAnAccountWithoutALoginHoldsTheMailboxAndSaysWhy(t *testing.T) {
	t.Parallel()
	c := connectAccount(t, mailboxes.Google, "gmail", "google")
	if err := c.oauth.Kill(t.Context(), c.grant.ID, "revoked"); err != nil {
		t.Fatal(err)
	}
	email, next := c.write("bob@example.com"), c.write("eve@example.com")
	if err := c.run(t.Context(), email); !snoozed(err) || c.status(email) != "planned" {
		t.Errorf("%v, %s", err, c.status(email))
	}
	n := c.count(`mailbox WHERE status = 'held' AND status_reason = 'reauthorization_required'
		AND held_until BETWEEN now() + interval '4 min' AND now() + interval '6 min' AND auth_refusals = 0`)
	if n != 1 {
		var got string
		c.scan(`SELECT concat_ws(' ', status, status_reason, held_until, auth_refusals) FROM mailbox`, &got)
		t.Errorf("the mailbox is %s", got)
	}
	if n := c.count(`job WHERE kind = 'email.send' AND attempt = 0`); n != 2 {
		t.Error("the email has spent an attempt")
	}
	signIns := len(c.users)
	if err := c.run(t.Context(), next); !snoozed(err) || len(c.users) != signIns {
		t.Errorf("while it is held: %v, %d more sign-ins", err, len(c.users)-signIns)
	}
}

func TestADisconnectedAccountHoldsTheMailboxToo(t *testing.T) {
	t.Parallel()
	c := connectAccount(t, mailboxes.Microsoft, "outlook", "microsoft")
	c.exec(`UPDATE social_account SET disconnected_at = now()`)
	email := c.write("bob@example.com")
	if err := c.run(t.Context(), email); !snoozed(err) || len(c.users) != 0 {
		t.Errorf("%v, %d sign-ins", err, len(c.users))
	}
	if n := c.count(`mailbox WHERE status = 'held' AND status_reason = 'reauthorization_required'`); n != 1 {
		t.Error("the mailbox is not held")
	}
}

func TestTheSentFolderOfAConnectedAccountIsReadWithItsToken(t *testing.T) {
	t.Parallel()
	c := connectAccount(t, mailboxes.Google, "gmail", "google")
	folder := imapd.Start(t, "Sent", true)
	folder.RequireToken(c.grant.Access)
	own := c.emails.Mailboxes.Own[mailboxes.Google]
	own.IMAP = mailboxes.Address{Host: folder.Host, Port: folder.Port, TLS: mailboxes.NoTLS}
	c.emails.Mailboxes.Own[mailboxes.Google] = own
	finder := sentfolder.Finder{
		DB: c.App, Mailboxes: c.emails.Mailboxes, Dialer: &imap.Dialer{AllowPrivate: true}, Token: c.tokens,
	}
	folder.File(t, "1@shop.example")
	for message, want := range map[string]bool{"1@shop.example": true, "2@shop.example": false} {
		if found, err := finder.Has(t.Context(), c.org, c.mailbox, message); err != nil || found != want {
			t.Errorf("%s: found %t, %v", message, found, err)
		}
	}
}

func TestAMailboxOfASandboxAccountSendsToTheSandbox(t *testing.T) {
	t.Parallel()
	c := connectAccount(t, mailboxes.Google, "gmail", "google")
	c.job.Token = func(ctx context.Context, org, account id.ID, refused int64) (mailboxes.Token, error) {
		token, err := c.tokens(ctx, org, account, refused)
		token.Sandboxed = true
		return token, err
	}
	sandbox := outbox.New(c.App, c.emails.Box, nil, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = sandbox.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	c.job.Sandbox = sandbox.Dial
	email := c.write("bob@example.com")
	if err := c.run(t.Context(), email); err != nil || c.status(email) != "sent" || len(c.users) != 0 {
		t.Errorf("%v, %s, %d sign-ins at the provider", err, c.status(email), len(c.users))
	}
	if n := c.count(`sandbox_email`); n != 1 {
		t.Errorf("the sandbox has %d mails", n)
	}
}
