package inboundmail_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// write creates an email to the same contact as the first, as it is once it was sent.
func (p *post) write() emails.Email {
	p.Helper()
	box := p.inbound.Box
	boxes := &mailboxes.Service{Box: box}
	service := &emails.Service{
		Box: box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: box}, InboundDomain: "in.shop.example",
	}
	var made *emails.Full
	if err := p.App.Tx(p.Context(), p.org, func(tx *postgres.Tx) error {
		m, err := boxes.ForSending(p.Context(), tx, p.box)
		if err != nil {
			return err
		}
		made, err = service.Create(p.Context(), tx, &emails.New{
			Mailbox: m, ContactID: *p.sent.ContactID, ToEmail: "ada@example.com", Subject: "Hello",
			Purpose: emails.Personal, Text: "Good day",
		})
		return err
	}); err != nil {
		p.Fatal(err)
	}
	p.exec(`UPDATE email SET status = 'sent', marked_at = now(), sent_at = now() WHERE id = $1`, made.ID)
	return made.Email
}

// bounce takes a report about an email with the enhanced code.
func (p *post) bounce(e emails.Email, code string) {
	p.Helper()
	raw := fmt.Appendf(nil, "From: mailer-daemon@mx.example\r\nMessage-ID: <%s@mx.example>\r\nReturn-Path: <>\r\n"+
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\r\nNot delivered\r\n"+
		"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\n"+
		"Final-Recipient: rfc822; ada@example.com\r\nAction: failed\r\nStatus: %s\r\n\r\n"+
		"--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <%s>\r\n\r\n--b--\r\n", id.New(), code,
		e.MessageID)
	if _, _, err := p.inbound.Intake(p.Context(), inbound.Route{Org: p.org, Mailbox: p.box}, raw,
		inbound.SMTP); err != nil {
		p.Fatal(err)
	}
}

func (p *post) bounced() string {
	p.Helper()
	var all string
	if err := p.sql.QueryRow(p.Context(), `SELECT concat_ws(' ', count(*) FILTER (WHERE bounced = 'soft'),
		count(*) FILTER (WHERE bounced = 'hard'), (SELECT count(*) FROM suppression WHERE org_id = $1
			AND reason = 'hard_bounce' AND purpose = 'all')) FROM email WHERE org_id = $1`,
		p.org).Scan(&all); err != nil {
		p.Fatal(err)
	}
	return all
}

func TestTheThirdSoftBounceSuppressesTheAddress(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	second, third, fourth := p.write(), p.write(), p.write()
	p.bounce(p.sent, "4.2.2")
	p.bounce(p.sent, "4.2.2") // the same email again
	p.bounce(second, "5.7.1") // refused by policy: no failure of the address
	p.bounce(third, "5.2.2")
	if p.process(); p.bounced() != "3 0 0" {
		t.Errorf("before the third: %s", p.bounced())
	}
	p.bounce(fourth, "4.4.1")
	if p.process(); p.bounced() != "3 1 1" {
		t.Errorf("after it: %s", p.bounced())
	}
}

func TestASoftBounceIsForgottenAfterADelivery(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	second, third, delivered := p.write(), p.write(), p.write()
	p.bounce(p.sent, "4.2.2")
	p.bounce(second, "4.2.2")
	p.process()
	p.exec(`UPDATE email SET delivered_at = now() WHERE id = $1`, delivered.ID)
	p.bounce(third, "4.2.2")
	if p.process(); p.bounced() != "3 0 0" {
		t.Errorf("after a delivery: %s", p.bounced())
	}
}

func TestOfThreeSoftBouncesAtOnceOneIsTheThird(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	for _, e := range []emails.Email{p.sent, p.write(), p.write()} {
		p.bounce(e, "4.2.2")
	}
	var all sync.WaitGroup
	for _, h := range p.jobs() {
		all.Go(func() {
			if err := p.App.Tx(t.Context(), p.org, func(tx *postgres.Tx) error {
				return p.inbound.Process(t.Context(), tx, h)
			}); err != nil {
				t.Error(err)
			}
		})
	}
	if all.Wait(); p.bounced() != "2 1 1" {
		t.Errorf("%s", p.bounced())
	}
}

// jobs returns the messages that have jobs.
func (p *post) jobs() (all []id.ID) {
	p.Helper()
	rows, err := p.sql.Query(p.Context(), `SELECT (args->>'message')::uuid FROM job WHERE org_id = $1`, p.org)
	if err != nil {
		p.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var m id.ID
		if err := rows.Scan(&m); err != nil {
			p.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}
