package tracking_test

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/tracking"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

const (
	base    = "https://app.example"
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	iphone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
)

// shop is an org with a mailbox, and the recorder of its hits.
type shop struct {
	*testing.T
	*testkit.Database
	recorder     *tracking.Recorder
	box          *secret.Sealer
	emails       *emails.Service
	mu           sync.Mutex
	sql          *pgx.Conn
	org, mailbox id.ID
}

func open(t *testing.T) *shop {
	t.Helper()
	return openOn(t, testkit.DB(t))
}

func openOn(t *testing.T, db *testkit.Database) *shop {
	t.Helper()
	box := testkit.Box(t)
	s := &shop{
		T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New(), mailbox: id.New(), box: box,
		recorder: tracking.NewRecorder(db.App, db.System, box),
		emails: &emails.Service{
			Box: box, Mailboxes: &mailboxes.Service{Box: box}, Suppressions: &suppression.Service{Box: box},
			PublicURL: base,
		},
	}
	s.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, s.org)
	s.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
		updated_at) VALUES ($1, $2, 'Box', 'sandbox', 'hello@shop.example', 'hello@shop.example', 'shop.example',
		'active', now(), now())`, s.org, s.mailbox)
	return s
}

func (s *shop) exec(sql string, args ...any) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.sql.Exec(s.Context(), sql, args...); err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
}

func (s *shop) scan(to any, sql string, args ...any) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.sql.QueryRow(s.Context(), sql, args...).Scan(to); err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
}

// sent is a tracked email that was transmitted a minute ago.
type sent struct {
	id     id.ID
	pixel  string   // token
	links  []string // tokens, in the order of the mail
	hidden string   // token of the link that people do not see
}

// send stores an email with three links.
func (s *shop) send() sent {
	s.Helper()
	contact := id.New()
	s.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, $3, $3, 'Ada', 'Lovelace', 'lovelace', 'lead', now(), now())`, s.org,
		contact, contact.String()+"@example.com")
	var full *emails.Full
	if err := s.App.Tx(s.Context(), s.org, func(tx *postgres.Tx) error {
		m, err := s.emails.Mailboxes.ForSending(s.Context(), tx, s.mailbox)
		if err != nil {
			return err
		}
		full, err = s.emails.Create(s.Context(), tx, &emails.New{
			Mailbox: m, ContactID: contact, ToEmail: contact.String() + "@example.com", Subject: "Hello",
			Purpose: emails.Personal, Tracking: emails.Tracking{Opens: true, Clicks: true},
			HTML: `<p><a href="https://shop.example/1">1</a><a href="https://shop.example/2">2</a>` +
				`<a href="https://shop.example/3">3</a></p>`,
		})
		return err
	}); err != nil {
		s.Fatal(err)
	}
	s.exec(`UPDATE email SET status = 'sent', marked_at = now() - interval '1 minute' WHERE id = $1`, full.ID)
	return sent{
		id: full.ID, pixel: tokens(*full.Content.HTML, links.OpenPath)[0],
		links: tokens(*full.Content.HTML, links.ClickPath)[:3], hidden: tokens(*full.Content.HTML, links.ClickPath)[3],
	}
}

// tokens returns the tokens of a document's addresses below a path.
func tokens(document, path string) (out []string) {
	for _, part := range strings.Split(document, base+path)[1:] {
		token, _, _ := strings.Cut(part, `"`)
		out = append(out, token)
	}
	return out
}

// visit is a request of a script.
type visit struct {
	after time.Duration // since the transmission
	link  int           // 1 to 3; 0: the pixel; -1: the hidden link
	head  bool
	agent string // "": Firefox
	ip    string // "": an address of a provider of people
}

// play sends the requests of a script and moves their times.
func (s *shop) play(m sent, script []visit) {
	s.Helper()
	for _, v := range script {
		if v.agent == "" {
			v.agent = firefox
		}
		if v.ip == "" {
			v.ip = "203.0.113.7"
		}
		to := &tracking.Visit{Head: v.head, Agent: v.agent, IP: netip.MustParseAddr(v.ip)}
		var err error
		switch v.link {
		case 0:
			err = s.recorder.Open(s.Context(), m.pixel, to)
		case -1:
			_, err = s.recorder.Click(s.Context(), m.hidden, to)
		default:
			_, err = s.recorder.Click(s.Context(), m.links[v.link-1], to)
		}
		if err != nil {
			s.Fatal(err)
		}
		s.exec(`UPDATE email_hit h SET at = e.marked_at + make_interval(secs => $2) FROM email e
			WHERE h.email_id = $1 AND e.id = $1
			AND h.id = (SELECT max(id::text)::uuid FROM email_hit WHERE email_id = $1)`,
			m.id, v.after.Seconds())
	}
}

// judge decides on all hits, as if two days had passed.
func (s *shop) judge() {
	s.Helper()
	s.exec(`UPDATE email_hit SET at = at - interval '2 days'`)
	s.exec(`UPDATE email SET marked_at = marked_at - interval '2 days'`)
	if err := s.App.Tx(s.Context(), s.org, func(tx *postgres.Tx) error {
		_, err := tracking.Judge(s.Context(), tx)
		return err
	}); err != nil {
		s.Fatal(err)
	}
}

// figures are the opens and clicks of an email.
type figures struct{ Opens, MachineOpens, Clicks, MachineClicks int }

func (s *shop) figures(email id.ID) (f figures) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.sql.QueryRow(context.WithoutCancel(s.Context()), `SELECT opens, machine_opens, clicks, machine_clicks
		FROM email WHERE id = $1`, email).Scan(&f.Opens, &f.MachineOpens, &f.Clicks, &f.MachineClicks); err != nil {
		s.Fatal(err)
	}
	return f
}
