package inboundmail_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
)

// post is an org with a mailbox that has sent an email to ada@example.com.
type post struct {
	testing.TB
	*testkit.Database
	sql     *pgx.Conn
	inbound *inbound.Service
	org     id.ID
	box     id.ID
	sent    emails.Email
}

func open(t *testing.T, from string) *post {
	t.Helper()
	db, box := testkit.DB(t), testkit.Box(t)
	p := &post{
		TB: t, Database: db, sql: testkit.Pgx(t, db.URL), inbound: inboundmail.Intake(db.App, box), org: id.New(),
	}
	contact := id.New()
	p.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, p.org)
	p.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, 'ada@example.com', 'ada@example.com', 'Ada', 'L', 'l', 'lead', now(),
		now())`, p.org, contact)
	boxes := &mailboxes.Service{Box: box}
	service := &emails.Service{Box: box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: box}}
	if err := db.App.Tx(t.Context(), p.org, func(tx *postgres.Tx) error {
		made, _, err := boxes.Create(t.Context(), tx, &mailboxes.Patch{
			Kind: wire.Some(mailboxes.Sandbox), FromEmail: wire.Some(from),
		}, nil)
		if err != nil {
			return err
		}
		p.box = made.ID
		m, err := boxes.ForSending(t.Context(), tx, made.ID)
		if err != nil {
			return err
		}
		full, err := service.Create(t.Context(), tx, &emails.New{
			Mailbox: m, ContactID: contact, ToEmail: "ada@example.com", Subject: "Hello", Purpose: emails.Personal,
			Text: "Good day",
		})
		if err != nil {
			return err
		}
		p.sent = full.Email
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p.exec(`UPDATE email SET status = 'sent', marked_at = now(), sent_at = now() WHERE id = $1`, p.sent.ID)
	return p
}

func (p *post) exec(sql string, args ...any) {
	p.Helper()
	if _, err := p.sql.Exec(p.Context(), sql, args...); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

func (p *post) count(from string, args ...any) (n int) {
	p.Helper()
	if err := p.sql.QueryRow(p.Context(), `SELECT count(*) FROM `+from, args...).Scan(&n); err != nil {
		p.Fatalf("%s: %v", from, err)
	}
	return n
}

// process runs the job of every message, twice.
func (p *post) process() {
	p.Helper()
	rows, err := p.sql.Query(p.Context(), `SELECT args::text FROM job WHERE org_id = $1 AND kind = $2`, p.org,
		inboundmail.Kind.Name())
	if err != nil {
		p.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		p.Fatal(err)
	}
	h := inboundmail.Job{Inbound: p.inbound}.Handler()
	for _, args := range append(all, all...) {
		c := &queue.Claimed{
			ID: id.New(), Org: p.org, Kind: h.Kind, Raw: []byte(args), Attempt: 1, MaxAttempts: 8,
		}
		if err := p.App.Tx(p.Context(), p.org, func(tx *postgres.Tx) error {
			return h.Tx(p.Context(), tx, c)
		}); err != nil {
			p.Fatal(err)
		}
	}
}

func (p *post) answer(header, text string) []byte {
	return fmt.Appendf(nil, "From: ada@example.com\r\nMessage-ID: <a1@example.com>\r\nIn-Reply-To: <%s>\r\n"+
		"Subject: Re: Hello\r\n%s\r\n%s", p.sent.MessageID, header, text)
}

func TestTheSameMailBySeveralWaysAtOnceIsOneMessage(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	mail := p.answer("", "Yes")
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			if n%3 == 0 {
				if err := p.inbound.FromSandbox(t.Context(), p.org, "Hello@Shop.example", mail); err != nil {
					t.Error(err)
				}
				return
			}
			if _, _, err := p.inbound.Intake(t.Context(), inbound.Route{Org: p.org, Mailbox: p.box}, mail,
				[]string{inbound.HTTP, inbound.SMTP}[n%2]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p.process()
	for from, want := range map[string]int{
		"message WHERE org_id = $1": 1, "message_raw WHERE org_id = $1": 1,
		"thread WHERE org_id = $1 AND incoming = 1":             1,
		"event WHERE org_id = $1 AND type = 'email.replied'":    1,
		"event WHERE org_id = $1 AND type = 'email.received'":   1,
		"email WHERE org_id = $1 AND replied_at IS NOT NULL":    1,
		"timeline WHERE org_id = $1 AND type = 'email.replied'": 1,
	} {
		if n := p.count(from, p.org); n != want {
			t.Errorf("%d of %s, want %d", n, from, want)
		}
	}
}

func TestAnAutomaticAnswerIsNotAnswered(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	mail := p.answer("Auto-Submitted: auto-replied\r\n", "I am away until 3 May 2030.")
	if err := p.inbound.FromSandbox(t.Context(), p.org, "hello@shop.example", mail); err != nil {
		t.Fatal(err)
	}
	jobs := p.count("job WHERE org_id = $1", p.org)
	p.process()
	if n := p.count("email WHERE org_id = $1", p.org); n != 1 {
		t.Errorf("%d emails, want the one that was sent", n)
	}
	if n := p.count("job WHERE org_id = $1", p.org); n != jobs {
		t.Errorf("%d jobs, want %d", n, jobs)
	}
	if n := p.count("message WHERE org_id = $1 AND class = 'auto_reply' AND match = 'references'", p.org); n != 1 {
		t.Error("the answer is not an automatic one to the email")
	}
}

func TestAReplyIsAFactOfItsContactUntilAPersonCorrectsIt(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	message, _, err := p.inbound.Intake(t.Context(), inbound.Route{Org: p.org, Mailbox: p.box},
		p.answer("", "Yes"), inbound.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	p.process()
	const facts, jobs = "email_fact WHERE org_id = $1 AND kind = 'replied' AND contact_id IS NOT NULL " +
		"AND email_id = $2", "job WHERE org_id = $1 AND kind = 'lead.score'"
	if n, m := p.count(facts, p.org, p.sent.ID), p.count(jobs, p.org); n != 1 || m != 1 {
		t.Errorf("%d facts, %d jobs; want one each", n, m)
	}
	for want, class := range []string{"auto_reply", "human"} {
		if err := p.App.Tx(t.Context(), p.org, func(tx *postgres.Tx) error {
			_, err := p.inbound.SetClass(t.Context(), tx, message, class, nil)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if n := p.count(facts, p.org, p.sent.ID); n != want {
			t.Errorf("%d facts of a mail of class %s, want %d", n, class, want)
		}
	}
	if m := p.count(jobs, p.org); m < 2 {
		t.Errorf("%d jobs, want the contact to be scored again", m)
	}
}
