package inboundmail_test

import (
	"fmt"
	"net/mail"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// neighbour is another org of the same installation, whose mailbox and contacts are those of p with the parts swapped:
// its mailbox is ada@example.com, and hello@shop.example is its contact.
func (p *post) neighbour(t *testing.T) *post {
	t.Helper()
	n := *p
	n.org = id.New()
	n.exec(`INSERT INTO org (id, name) VALUES ($1, 'Neighbour')`, n.org)
	n.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, 'hello@shop.example', 'hello@shop.example', 'H', 'S', 's', 'lead',
		now(), now())`, n.org, id.New())
	if err := p.App.Tx(t.Context(), n.org, func(tx *postgres.Tx) error {
		made, _, err := (&mailboxes.Service{Box: p.inbound.Box}).Create(t.Context(), tx, &mailboxes.Patch{
			Kind: wire.Some(mailboxes.Sandbox), FromEmail: wire.Some("ada@example.com"),
		}, nil)
		n.box = made.ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return &n
}

// Two orgs have mailboxes with responders that answer every mail, even each other's answers, as long as a mail comes to
// answer. The platform takes each answer and sends nothing, so what the responders send is all that there is: a server
// answers a sender once, and the exchange ends.
func TestTwoOrgsWhoseMailboxesAnswerEachOtherEndAfterOneAnswer(t *testing.T) {
	t.Parallel()
	a := open(t, "hello@shop.example")
	b := a.neighbour(t)
	first, _ := a.outgoing(a.sent)
	type delivery struct {
		to  *post
		raw []byte
	}
	queue, answered, taken := []delivery{{b, first}}, map[*post]bool{}, 0
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		taken++
		if _, _, err := d.to.inbound.Intake(t.Context(), inbound.Route{Org: d.to.org, Mailbox: d.to.box}, d.raw,
			inbound.SMTP); err != nil {
			t.Fatal(err)
		}
		d.to.process()
		m, err := mail.ReadMessage(strings.NewReader(string(d.raw)))
		if err != nil {
			t.Fatal(err)
		}
		if automatic := m.Header.Get("Auto-Submitted") != ""; answered[d.to] || automatic && d.to == b {
			continue
		}
		answered[d.to] = true // even a responder that ignores RFC 3834 answers a sender once in some days
		other, from := a, "ada@example.com"
		if d.to == a {
			other, from = b, "hello@shop.example"
		}
		queue = append(queue, delivery{other, fmt.Appendf(nil, "From: %s\r\nTo: %s\r\nMessage-ID: <%s@%s>\r\n"+
			"Auto-Submitted: auto-replied\r\nIn-Reply-To: %s\r\nSubject: Automatic reply: Hello\r\n\r\n"+
			"I am out of the office until 3 May 2030.\r\n", from, m.Header.Get("From"), id.New(), "auto.example",
			m.Header.Get("Message-ID"))})
	}
	if taken != 3 { // the email, the answer to it, and the broken responder's answer to that
		t.Errorf("%d mails were exchanged", taken)
	}
	for _, p := range []*post{a, b} {
		if n := p.count(`job WHERE org_id = $1 AND kind <> 'inbound.mail'`, p.org); n != 0 {
			t.Errorf("the platform has added %d other jobs", n)
		}
	}
	if n := a.count(`email WHERE org_id = ANY ($1)`, []id.ID{a.org, b.org}); n != 1 {
		t.Errorf("%d emails, want the first alone", n)
	}
	if n := a.count(`message WHERE org_id = $1 AND class = 'auto_reply' AND match = 'references'`, a.org); n != 1 {
		t.Error("the answer is not an automatic one to the email")
	}
	if n := a.count(`email WHERE replied_at IS NOT NULL`); n != 0 {
		t.Error("an automatic answer counts as a reply")
	}
}
