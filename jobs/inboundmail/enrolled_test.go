package inboundmail_test

import (
	"fmt"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
)

// enrol makes the email that was sent the first step of an enrolment, which waits for its second.
func (p *post) enrol() id.ID {
	p.Helper()
	i, sequence := id.New(), id.New()
	p.exec(`INSERT INTO send_group (org_id, id, sequence_id, schedule, zone) VALUES ($1, 1, $2, '', '')`, p.org,
		sequence)
	p.exec(`INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, step_number, due_at, grp,
			prio, mailbox_id, zone, created_at, started_at, state_at)
		VALUES ($1, $2, $3, 1, $4, 'active', 'second', 2, now() + interval '1 day', 1, 0, $5, 'UTC', now(),
			now(), now())`,
		p.org, i, sequence, p.sent.ContactID, p.box)
	p.exec(`UPDATE email SET enrolment_id = $2, step = 'first', purpose = 'marketing' WHERE id = $1`, p.sent.ID, i)
	return i
}

func TestIncomingMailsEndOrPauseTheEnrolmentOfTheirContact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mail        func(p *post) []byte
		want, event string
	}{
		"a reply": {
			mail: func(p *post) []byte { return p.answer("", "Yes, please") },
			want: "replied reply", event: "sequence.replied",
		},
		"an automatic reply": {
			mail: func(p *post) []byte {
				return p.answer("Auto-Submitted: auto-replied\r\n", "I am out of the office.")
			},
			want: "paused out_of_office",
		},
		"a request to unsubscribe": {
			mail: func(p *post) []byte { return p.answer("", "unsubscribe") },
			want: "unsubscribed unsubscribe", event: "sequence.stopped",
		},
		"a hard bounce": {
			mail: func(p *post) []byte {
				return fmt.Appendf(nil, "From: MAILER-DAEMON@mx.example\r\nMessage-ID: <b1@mx.example>\r\n"+
					"Subject: Undelivered\r\nMIME-Version: 1.0\r\n"+
					"Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n"+
					"--b\r\n\r\nIt came back.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n"+
					"Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; ada@example.com\r\n"+
					"Action: failed\r\n"+
					"Status: 5.1.1\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: <%s>\r\n"+
					"Subject: Hello\r\n\r\nGood day\r\n--b--\r\n", p.sent.MessageID)
			},
			want: "bounced hard_bounce", event: "sequence.stopped",
		},
		"a mail of somebody else": {
			mail: func(*post) []byte {
				return []byte("From: eve@other.example\r\nMessage-ID: <e1@other.example>\r\nSubject: Hi\r\n\r\nHi")
			},
			want: "active",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, "hello@shop.example")
			e := p.enrol()
			if _, _, err := p.inbound.Intake(t.Context(), inbound.Route{Org: p.org, Mailbox: p.box}, c.mail(p),
				inbound.HTTP); err != nil {
				t.Fatal(err)
			}
			p.process()
			var got string
			if err := p.sql.QueryRow(t.Context(), `SELECT concat_ws(' ', state, nullif(reason, '')) FROM enrolment
				WHERE id = $1`, e).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			want := 0
			if c.event != "" {
				want = 1
			}
			if n := p.count(`event WHERE type LIKE 'sequence.%'`); n != want {
				t.Errorf("%d events of sequences, want %d", n, want)
			}
			if n := p.count(`event WHERE type = $1`, c.event); n != want {
				t.Errorf("%d events %s, want %d", n, c.event, want)
			}
		})
	}
}
