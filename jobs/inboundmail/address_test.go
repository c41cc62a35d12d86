package inboundmail_test

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/listener"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// outgoing returns the bytes of an email and the sender of its envelope.
func (p *post) outgoing(e emails.Email) (mime []byte, from string) {
	p.Helper()
	p.exec(`UPDATE email SET status = 'planned', marked_at = NULL WHERE id = $1`, e.ID)
	box := p.inbound.Box
	service := &emails.Service{
		Box: box, Mailboxes: &mailboxes.Service{Box: box}, Suppressions: &suppression.Service{Box: box},
	}
	o, err := service.Begin(p.Context(), p.App, p.org, e.ID, id.New())
	if err != nil || o == nil {
		p.Fatal(o, err)
	}
	if mime, err = o.MIME(p.Context(), p.App); err != nil {
		p.Fatal(err)
	}
	p.exec(`UPDATE email SET status = 'sent', marked_at = now(), sent_at = now() WHERE id = $1`, e.ID)
	return mime, o.From()
}

func TestAnEmailsOwnAddressLeadsItsAnswersBackWhoeverWritesThem(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	p.exec(`UPDATE mailbox SET reply_to = 'answers@IN.shop.example'`)
	email := p.write()
	mime, envelope := p.outgoing(email)
	if again, _ := p.outgoing(email); string(again) != string(mime) {
		t.Error("another attempt has other bytes")
	}
	sent, err := mail.ReadMessage(strings.NewReader(string(mime)))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := mail.ParseAddress(sent.Header.Get("Reply-To"))
	if err != nil || !strings.HasSuffix(reply.Address, "@in.shop.example") || reply.Address != envelope {
		t.Fatalf("Reply-To %v, envelope from %q, %v", reply, envelope, err)
	}
	local, _, _ := strings.Cut(reply.Address, "@")
	if len(local) > 64 {
		t.Errorf("the local part has %d bytes", len(local))
	}
	client := dial(t, &listener.Server{Inbound: p.inbound, Log: testkit.Log(t)}, false)
	defer func() { _ = client.Close() }()
	if err := client.Mail("eve@elsewhere.example", nil); err != nil {
		t.Fatal(err)
	}
	forged := []byte(local)
	forged[60] ^= 'a' ^ 'b'
	var refused *smtp.SMTPError
	if err := client.Rcpt(string(forged)+"@in.shop.example", nil); !errors.As(err, &refused) || refused.Code != 550 {
		t.Errorf("a forged address: %v", err)
	}
	if err := client.Rcpt(strings.ToUpper(local)+"@in.shop.example", nil); err != nil {
		t.Fatal(err)
	}
	w, err := client.Data()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("From: eve@elsewhere.example\r\nMessage-ID: <1@elsewhere.example>\r\n\r\nHi\r\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p.process()
	n := p.count(`message WHERE match = 'token' AND class = 'human' AND email_id = $1 AND mailbox_id = $2
		AND thread_id = $1`, email.ID, p.box)
	if n != 1 || p.count(`email WHERE id = $1 AND replied_at IS NOT NULL`, email.ID) != 1 {
		t.Error("the answer is not matched by the address")
	}
}

func TestOnlyMailboxesThatAskForItHaveSuchAddresses(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@other.example")
	_, envelope := p.outgoing(p.write())
	if envelope != "hello@other.example" {
		t.Errorf("without a reply_to: from %s", envelope)
	}
	p.exec(`UPDATE mailbox SET reply_to = 'answers@in.shop.example'`)
	mime, envelope := p.outgoing(p.write())
	if envelope != "hello@other.example" || !strings.Contains(string(mime), "@in.shop.example>\r\n") {
		t.Errorf("from %s: the sender of the envelope would not be aligned with From", envelope)
	}
	p.exec(`UPDATE mailbox SET reply_to = 'boss@shop.example'`)
	if mime, _ = p.outgoing(p.write()); !strings.Contains(string(mime), "Reply-To: <boss@shop.example>") {
		t.Error("a reply_to elsewhere is not kept")
	}
}

func TestAnAnswerToTheIDThatTheServerHasGivenIsMatched(t *testing.T) {
	t.Parallel()
	for given, named := range map[string]string{
		"0102018c1f2e3d4c-aaaaaaaa-bbbb-cccc-000000": "0102018c1f2e3d4c-aaaaaaaa-bbbb-cccc-000000@email.amazonses.com",
		"VI1@VI1.prod.outlook.com":                   "VI1@VI1.prod.outlook.com",
	} {
		p := open(t, "hello@shop.example")
		p.exec(`UPDATE email SET server_id = $1`, given)
		for from, want := range map[string]string{"ada@example.com": "references", "eve@elsewhere.example": "none"} {
			p.answered(from, named, want)
		}
	}
	p := open(t, "hello@shop.example")
	p.exec(`UPDATE email SET server_id = '4D5F82A0C1'`)
	p.bounce(emails.Email{MessageID: "another@shop.example"},
		"5.1.1\r\nX-Other: x\r\n\r\nX-Postfix-Queue-ID: 4D5F82A0C1")
	if p.process(); p.count(`email WHERE bounced = 'hard'`) != 1 {
		t.Error("a report that names the queue id is not matched")
	}
}

// answered takes an answer that refers to a Message-ID, and fails unless it is matched so.
func (p *post) answered(from, to, want string) {
	p.Helper()
	p.exec(`UPDATE contact SET email_folded = 'other@example.com'`) // nor is the sender known
	mail := fmt.Appendf(nil, "From: %s\r\nMessage-ID: <%s@x.example>\r\nIn-Reply-To: <%s>\r\n\r\nYes", from, id.New(),
		to)
	if err := p.inbound.FromSandbox(p.Context(), p.org, "hello@shop.example", mail); err != nil {
		p.Fatal(err)
	}
	p.process()
	if n := p.count(`message WHERE from_folded = $1 AND match = $2`, from, want); n != 1 {
		p.Errorf("%s: not matched by %s", from, want)
	}
}
