package inboundmail_test

import (
	"fmt"
	"testing"
)

// fromElsewhere returns an answer to the email, written at another address than the contact's.
func (p *post) fromElsewhere(header, text string) []byte {
	return fmt.Appendf(nil, "From: Ada <ada@home.example>\r\nMessage-ID: <e1@home.example>\r\nReferences: <%s>\r\n"+
		"Subject: Re: Hello\r\n%s\r\n%s", p.sent.MessageID, header, text)
}

func TestAnAnswerFromAnotherAddressIsTheContacts(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	e := p.enrol()
	message := p.receive(p.fromElsewhere("", "Yes, please"))
	if got := p.classOf(message) + ", " + p.stateOf(e); got != "human true rule references, replied reply" {
		t.Error(got)
	}
	if n := p.count(`message WHERE id = $1 AND contact_id = $2 AND from_email = 'ada@home.example' AND email_id = $3`,
		message, p.sent.ContactID, p.sent.ID); n != 1 {
		t.Error("the message is not the contact's, or does not show the other address")
	}
	if n := p.count(`event WHERE type = 'email.replied'`); n != 1 {
		t.Errorf("%d replies", n)
	}
}

func TestARequestFromAnotherAddressSuppressesThatOneAndAsks(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	e := p.enrol()
	p.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced,
		scored_at) VALUES ($1, $2, 1, 0.01, 'prior-1', 'prior', 1, now())`, p.org, p.sent.ContactID)
	message := p.receive(p.fromElsewhere("", "Please remove me from your mailing list."))
	const suppressed = `suppression WHERE org_id = $1 AND reason = 'unsubscribe' AND lifted_at IS NULL`
	if got := p.classOf(message) + ", " + p.stateOf(e); got !=
		"unsubscribe_request false rule references, paused reply_unsure" {
		t.Error(got)
	}
	if n, m := p.count(suppressed, p.org), p.count(`event WHERE type = 'contact.unsubscribed'`); n != 1 || m != 0 {
		t.Errorf("%d addresses suppressed, %d contacts unsubscribed; want the other address alone", n, m)
	}
	p.setClass(message, "unsubscribe_request")
	if got := p.stateOf(e); got != "unsubscribed unsubscribe" {
		t.Errorf("once a person has confirmed it: %s", got)
	}
	if n, m := p.count(suppressed, p.org), p.count(`event WHERE type = 'contact.unsubscribed'`); n != 2 || m != 1 {
		t.Errorf("%d addresses suppressed, %d contacts unsubscribed; want both addresses", n, m)
	}
}

func TestAListThatRewritesTheSenderIsNoOtherAddress(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	e := p.enrol()
	message := p.receive(p.fromElsewhere("Reply-To: Ada <Ada@example.com>\r\n", "unsubscribe"))
	if got := p.classOf(message) + ", " + p.stateOf(e); got !=
		"unsubscribe_request true rule references, unsubscribed unsubscribe" {
		t.Error(got)
	}
}

func TestASecondMailWithAUsedMessageIDIsASecondMessage(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	const id = "Message-ID: <same@x>\r\n"
	multipart := func(file, boundary string) string {
		return "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=" + boundary + "\r\n\r\n--" + boundary +
			"\r\nContent-Type: text/plain\r\n\r\nSee the file\r\n--" + boundary +
			"\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n" + file +
			"\r\n--" + boundary + "--\r\n"
	}
	first, _ := p.take(header + id + multipart("QUFBQUFBQUE=", "b"))
	for name, mail := range map[string]string{
		"other servers on the way": "Received: by mx\r\nX-Spam: no\r\n" + header + id + multipart("QUFBQUFBQUE=", "b"),
		"another boundary":         header + id + multipart("QUFBQUFBQUE=", "c"),
		"lines of another length":  header + id + multipart("QUFBQ\r\nUFBQUE=", "b"),
	} {
		if second, fresh := p.take(mail); fresh || second != first {
			t.Errorf("%s: a second message", name)
		}
	}
	seen := map[string]bool{first.String(): true}
	for name, mail := range map[string]string{
		"another text": header + id + "\r\nSomething else",
		"another file": header + id + multipart("QkJCQkJCQkI=", "b"),
		"another sender": "From: eve@example.com\r\n" + header[len("From: ada@example.com\r\n"):] + id +
			multipart("QUFBQUFBQUE=", "b"),
		"another subject": header[:len(header)-4] + "Ho\r\n" + id + multipart("QUFBQUFBQUE=", "b"),
	} {
		second, fresh := p.take(mail)
		if !fresh || seen[second.String()] {
			t.Errorf("%s: dropped as a copy", name)
		}
		seen[second.String()] = true
		if again, fresh := p.take("Received: by mx\r\n" + mail); fresh || again != second {
			t.Errorf("%s: its copy is another message", name)
		}
	}
}
