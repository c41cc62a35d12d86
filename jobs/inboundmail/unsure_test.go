package inboundmail_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// mayBeAway is the text of an answer that a person or a program may have written.
const mayBeAway = "I am on holiday until Monday."

// receive takes a mail and processes it.
func (p *post) receive(mail []byte) id.ID {
	p.Helper()
	message, _, err := p.inbound.Intake(p.Context(), inbound.Route{Org: p.org, Mailbox: p.box}, mail, inbound.HTTP)
	if err != nil {
		p.Fatal(err)
	}
	p.process()
	return message
}

// setClass corrects the class of a message, as a person does.
func (p *post) setClass(message id.ID, class string) {
	p.Helper()
	if err := p.App.Tx(p.Context(), p.org, func(tx *postgres.Tx) error {
		_, err := p.inbound.SetClass(p.Context(), tx, message, class, nil)
		return err
	}); err != nil {
		p.Fatal(err)
	}
}

// text returns the only column of the only row of a statement.
func (p *post) text(sql string, args ...any) (out string) {
	p.Helper()
	if err := p.sql.QueryRow(p.Context(), sql, args...).Scan(&out); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (p *post) classOf(message id.ID) string {
	p.Helper()
	return p.text(`SELECT class || ' ' || sure || ' ' || class_by || ' ' || match FROM message WHERE id = $1`, message)
}

// stateOf returns the state of an enrolment, its reason, and whether a pause of it ends by itself.
func (p *post) stateOf(enrolment id.ID) string {
	p.Helper()
	return p.text(`SELECT concat_ws(' ', state, nullif(reason, ''), CASE WHEN resume_at IS NOT NULL THEN 'until' END)
		FROM enrolment WHERE id = $1`, enrolment)
}

func TestAnAnswerInDoubtPausesItsEnrolmentUntilItIsSettled(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]struct {
		state   string
		replies int
	}{
		"human":               {"replied reply", 1},
		"auto_reply":          {"paused out_of_office until", 0},
		"unsubscribe_request": {"unsubscribed unsubscribe", 0},
		"list":                {"paused reply_unsure until", 0}, // it goes on at once
		"unknown":             {"paused reply_unsure", 0},
	} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			p := open(t, "hello@shop.example")
			e := p.enrol()
			message := p.receive(p.answer("", mayBeAway))
			got := p.classOf(message) + ", " + p.stateOf(e)
			if got != "human false rule references, paused reply_unsure" {
				t.Errorf("before: %s", got)
			}
			const replied = `event WHERE type IN ('email.replied', 'sequence.replied')`
			if n := p.count(replied) + p.count(`email WHERE replied_at IS NOT NULL`); n != 0 {
				t.Errorf("%d replies before it is settled", n)
			}
			p.setClass(message, class)
			if got := p.stateOf(e); got != want.state {
				t.Errorf("%s, want %s", got, want.state)
			}
			if n := p.count(`event WHERE type = 'email.replied'`); n != want.replies {
				t.Errorf("%d replies, want %d", n, want.replies)
			}
			if n := p.count(`event WHERE type = 'email.received'`); n != 1 {
				t.Errorf("%d messages received", n)
			}
		})
	}
}

func TestASecondAnswerInDoubtKeepsTheEnrolmentPaused(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	e := p.enrol()
	first := p.receive(p.answer("", mayBeAway))
	second := p.receive([]byte("From: ada@example.com\r\nMessage-ID: <a2@example.com>\r\nIn-Reply-To: <" +
		p.sent.MessageID + ">\r\nSubject: Re: Hello\r\n\r\nI am away until Tuesday."))
	p.setClass(first, "list")
	if got := p.stateOf(e); got != "paused reply_unsure" {
		t.Errorf("while one is in doubt: %s", got)
	}
	p.setClass(second, "list")
	if got := p.stateOf(e); got != "paused reply_unsure until" {
		t.Errorf("once both are settled: %s", got)
	}
}

func TestAnAnswerInDoubtEndsNoPauseOfAPersonAndKeepsTheOneOfAnAbsence(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"out_of_office": "paused reply_unsure", "paused_by_user": "paused paused_by_user",
	} {
		p := open(t, "hello@shop.example")
		e := p.enrol()
		p.exec(`UPDATE enrolment SET state = 'paused', reason = $2, kept_due_at = due_at, due_at = NULL,
			resume_at = CASE WHEN $2 = 'out_of_office' THEN now() + interval '1 hour' END WHERE id = $1`, e, reason)
		p.receive(p.answer("", mayBeAway))
		if got := p.stateOf(e); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}

// The mail that was answered has the subject of a program's, and the answer has its words.
func TestTheWordsOfOurSubjectMakeNoAnswerAProgramsOrABounce(t *testing.T) {
	t.Parallel()
	for subject, text := range map[string]string{
		"Out of office cover for your practice": "I know this is an automated email, but I am interested.",
		"Undeliverable mail costs you money":    "Your last mail came back: 550 5.1.1 user unknown. Use this one.",
		"Abwesenheitsnotiz-Vorlagen":            "Klingt gut.",
	} {
		for _, header := range []string{"", "Return-Path: <>\r\n", "X-Auto-Response-Suppress: All\r\n"} {
			p := open(t, "hello@shop.example")
			e := p.enrol()
			p.exec(`UPDATE email SET subject = $2 WHERE id = $1`, p.sent.ID, subject)
			message := p.receive([]byte("From: ada@example.com\r\nMessage-ID: <a1@example.com>\r\nIn-Reply-To: <" +
				p.sent.MessageID + ">\r\n" + header + "Subject: Re: " + subject + "\r\n\r\n" + text))
			if got := p.classOf(message) + ", " + p.stateOf(e); got != "human true rule references, replied reply" {
				t.Errorf("%s, %q: %s", subject, header, got)
			}
		}
	}
}
