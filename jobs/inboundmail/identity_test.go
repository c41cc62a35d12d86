package inboundmail_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// take takes a mail and reports whether it is new.
func (p *post) take(raw string) (message id.ID, fresh bool) {
	p.Helper()
	message, fresh, err := p.inbound.Intake(p.Context(), inbound.Route{Org: p.org, Mailbox: p.box}, []byte(raw), "http")
	if err != nil {
		p.Fatal(err)
	}
	return message, fresh
}

// header returns the fields of a mail before its Message-ID.
const header = "From: ada@example.com\r\nTo: hello@shop.example\r\n" +
	"Date: Mon, 5 Oct 2026 10:00:00 +0000\r\nSubject: Hi\r\n"

// fields returns n fields that differ.
func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-Field-%d: %d\r\n", i, i)
	}
	return b.String()
}

// Each case has two mails. They are taken as two messages, and each of them as one, however often it comes.
func TestTwoMailsAreTwoMessagesWhateverTheirHeaders(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	huge := strings.Repeat("x", 300<<10)
	folded := strings.Repeat(" "+strings.Repeat("y", 900)+"\r\n", 80) // 72 KB
	for name, mails := range map[string][2]string{
		"a Message-ID behind 500 fields": {
			header + fields(500) + "Message-ID: <a1@x>\r\n\r\nHi",
			header + fields(500) + "Message-ID: <a2@x>\r\n\r\nHi",
		},
		"every field behind 500 fields": {
			fields(500) + header + "Message-ID: <b1@x>\r\n\r\nHi",
			fields(500) + header + "Message-ID: <b2@x>\r\n\r\nHi",
		},
		"a Message-ID behind 256 KiB": {
			header + "X-Huge: " + huge + "\r\nMessage-ID: <c1@x>\r\n\r\n",
			header + "X-Huge: " + huge + "\r\nMessage-ID: <c2@x>\r\n\r\n",
		},
		"a Message-ID behind folded fields": {
			header + strings.Repeat("X-Many: z\r\n"+folded, 5) + "Message-ID: <d1@x>\r\n\r\nHi",
			header + strings.Repeat("X-Many: z\r\n"+folded, 5) + "Message-ID: <d2@x>\r\n\r\nHi",
		},
		"a Subject behind 500 fields": {
			"Date: x\r\n" + fields(500) + "Subject: 1\r\n\r\nHi", "Date: x\r\n" + fields(500) + "Subject: 2\r\n\r\nHi",
		},
		"a Message-ID whose end a limit cuts": {
			header + "Message-ID: e\r\n" + folded + " 1@x\r\n\r\nHi",
			header + "Message-ID: e\r\n" + folded + " 2@x\r\n\r\nHi",
		},
		"a Message-ID that is the last of 500 fields and folded": {
			header + fields(495) + "Message-ID: f\r\nX-A: 1\r\n b\r\n\r\nHi",
			header + fields(495) + "Message-ID: g\r\nX-A: 1\r\n b\r\n\r\nHi",
		},
		"a gigantic Message-ID": {
			header + "Message-ID: <" + huge + "1@x>\r\n\r\nHi",
			header + "Message-ID: <" + huge + "2@x>\r\n\r\nHi",
		},
		"a Message-ID of 2,000 bytes": {
			header + "Message-ID: <" + huge[:2000] + "1@x>\r\n\r\nA",
			header + "Message-ID: <" + huge[:2000] + "2@x>\r\n\r\nA",
		},
		"two Message-IDs": {
			header + "Message-ID: <h0@x>\r\nMessage-ID: <h1@x>\r\n\r\nHi",
			header + "Message-ID: <h0@x>\r\nMessage-ID: <h2@x>\r\n\r\nHi",
		},
		"two Message-IDs in one field": {
			header + "Message-ID: <i0@x> <i1@x>\r\n\r\nHi",
			header + "Message-ID: <i0@x> <i2@x>\r\n\r\nHi",
		},
		"a long and a short one": {
			header + "Message-ID: <" + huge[:1000] + "1> <j@x>\r\n\r\nHi",
			header + "Message-ID: <" + huge[:1000] + "2> <j@x>\r\n\r\nHi",
		},
		"an empty Message-ID": {header + "Message-ID:\r\n\r\nOne", header + "Message-ID:\r\n\r\nTwo"},
		"empty angle brackets": {
			header + "Message-ID: <>\r\n\r\nThree",
			header + "Message-ID: <>\r\n\r\nFour",
		},
		"no Message-ID": {header + "\r\nFive", header + "\r\nSix"},
		"neither Message-ID nor Date": {
			"Subject: x\r\nReceived: 1\r\n\r\nHi",
			"Subject: x\r\nReceived: 2\r\n\r\nHi",
		},
		"line ends of another kind": {
			"From: a\rX: " + huge + "\rMessage-ID: <k1@x>\r\rHi",
			"From: a\rX: " + huge + "\rMessage-ID: <k2@x>\r\rHi",
		},
		"no header": {huge + "1", huge + "2"},
	} {
		first, fresh := p.take(mails[0])
		second, alsoFresh := p.take(mails[1])
		if !fresh || !alsoFresh || first == second {
			t.Errorf("%s: new %t and %t, the same %t", name, fresh, alsoFresh, first == second)
		}
		for i, want := range []id.ID{first, second} {
			if again, fresh := p.take(mails[i]); fresh || again != want {
				t.Errorf("%s: mail %d is a second message", name, i)
			}
		}
	}
}

func TestCopiesOfAMailAreOneMessage(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	for name, mails := range map[string][2]string{
		"other servers on the way": {
			header + "Message-ID: <a@x>\r\n\r\nHi",
			"Received: by mx\r\n" + header + "Message-ID: <a@x> (added by mx)\r\n\r\nHi\r\n",
		},
		"a repeated Message-ID": {
			header + "Message-ID: <c@x>\r\n\r\nHi",
			header + "Message-ID: <c@x>\r\nMessage-ID: <c@x>\r\n\r\nHi",
		},
		"no Message-ID": {header + "\r\nHi", "Received: by mx\r\n" + header + "\r\nHi\r\n"},
		"an envelope": {
			fields(600) + "\r\nHi",
			"X-Original-To: <a@b>\r\nReturn-Path: <c@d>\r\n" + fields(600) + "\r\nHi",
		},
		"line ends of one byte": {
			fields(601) + "\r\nHi",
			strings.ReplaceAll(fields(601)+"\r\nHi\r\n", "\r\n", "\n"),
		},
		"a folded Message-ID": {
			header + "Message-ID: <d@x>\r\n\r\nHi",
			header + "Message-ID:\r\n <d@x>\r\n\r\nHi",
		},
		"no Date and no header":  {"Hi", "Hi\r\n"},
		"no brackets around one": {header + "Message-ID: e@x\r\n\r\nHi", header + "Message-ID: <e@x>\r\n\r\nHi"},
	} {
		first, fresh := p.take(mails[0])
		if second, again := p.take(mails[1]); !fresh || again || first != second {
			t.Errorf("%s: new %t and %t, the same %t", name, fresh, again, first == second)
		}
	}
}

// A mail is drawn from the shapes that limits meet, and so is another one that differs from it in one byte of its
// header or body.
func TestMailsThatDifferInAByteBeyondALimitAreTwoMessages(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	r := rand.New(rand.NewPCG(35, 4))
	for n := range 60 {
		var b strings.Builder
		fmt.Fprintf(&b, "X-Number: %d\r\n", n)
		if r.IntN(2) == 0 {
			b.WriteString(header)
		}
		for size := b.Len(); b.Len()-size < 257<<10 && strings.Count(b.String(), "\n") < 510+r.IntN(300); {
			line := strings.Repeat("v", r.IntN(9000))
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, " %s\r\n", line)
			} else {
				fmt.Fprintf(&b, "X-%s: %s\r\n", strings.Repeat("n", 1+r.IntN(30)), line)
			}
		}
		limit := b.Len()
		fmt.Fprintf(&b, "Message-ID: <%d@x>\r\nSubject: beyond\r\n\r\nText of the mail", n)
		one := b.String()
		at := limit + len("Message-ID: <") + r.IntN(len(one)-limit-len("Message-ID: <"))
		other := one[:at] + "#" + one[at+1:]
		first, fresh := p.take(one)
		second, alsoFresh := p.take(other)
		if !fresh || !alsoFresh || first == second {
			t.Errorf("mail %d: new %t and %t", n, fresh, alsoFresh)
		}
		if again, fresh := p.take(one); fresh || again != first {
			t.Errorf("mail %d is taken twice", n)
		}
	}
}

func TestAMessageIDThatIsNotTheOnlyOneIsNoReasonToPassAMailOver(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	p.take(header + "Message-ID: <a@x>\r\nMessage-ID: <b@x>\r\n\r\nHi")
	if err := p.App.ReadTx(t.Context(), p.org, func(tx *postgres.Tx) error {
		for _, one := range []string{"a@x", "b@x", ""} {
			raw := []byte(header + "Message-ID: <" + one + ">\r\n")
			if found, err := p.inbound.Has(t.Context(), tx, p.box, raw); err != nil || found {
				t.Errorf("%q: found %t, %v", one, found, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
