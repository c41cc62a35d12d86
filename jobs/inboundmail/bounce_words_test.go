package inboundmail_test

import "testing"

func TestAPersonWhoQuotesABounceIsNoBounce(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	e := p.enrol()
	message := p.receive([]byte("From: ada@example.com\r\nMessage-ID: <a1@example.com>\r\nReferences: <" +
		p.sent.MessageID + ">\r\nSubject: Undeliverable mail\r\n\r\nYour mail to my partner could not be " +
		"delivered:\r\n" +
		"550 5.1.1 <jo@example.com>: user unknown\r\nPlease write to me."))
	if got := p.classOf(message) + ", " + p.stateOf(e); got != "human true rule references, replied reply" {
		t.Error(got)
	}
	if n := p.count(`suppression`); n != 0 {
		t.Errorf("%d addresses suppressed", n)
	}
}
