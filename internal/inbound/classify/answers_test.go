package classify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// ourSubjects are subjects of mails of ours that read like those of programs.
var ourSubjects = []string{
	"Your engine",
	"Out of office cover for your practice",
	"Automatic replies that sell",
	"Automatic reply: how to set it up",
	"Undeliverable? How to keep your list clean",
	"Delivery failed? We deliver",
	"Abwesenheitsnotiz-Vorlagen für Ihr Team",
	"Abwesend? Wir vertreten Ihre Praxis",
	"Réponse automatique : gagnez du temps",
	"Respuesta automática para su clínica",
	"Risposta automatica: la guida",
	"Autosvar som säljer",
	"Автоответ для вашей клиники",
	"自動返信のご提案",
	"On vacation? Your shop is not",
}

// client is how a mail program writes an answer.
type client struct {
	name, prefix, header, above string
}

var clients = []client{
	{"Gmail", "Re: ", "X-Mailer: Gmail\n", "On Mon, Aug 3, 2026 at 9:00 AM Shop <hello@shop.example> wrote:\n> "},
	{
		"Outlook", "RE: ", "Thread-Topic: x\nX-Auto-Response-Suppress: DR, RN, NRN, OOF, AutoReply\n",
		"________________________________\nFrom: Shop <hello@shop.example>\nSent: Monday, August 3, 2026 9:00 AM\n" +
			"To: Ada\nSubject: x\n\n",
	},
	{"Outlook in German", "AW: ", "", "Von: Shop <hello@shop.example>\nGesendet: Montag, 3. August 2026 09:00\n" +
		"An: Ada\nBetreff: x\n\n"},
	{
		"Apple Mail", "Re: ", "X-Mailer: Apple Mail\n",
		"> On 3 Aug 2026, at 09:00, Shop <hello@shop.example> wrote:\n> \n> ",
	},
	{"Thunderbird", "Re: ", "User-Agent: Mozilla Thunderbird\n", "Am 03.08.26 um 09:00 schrieb Shop:\n> "},
	{"a list", "Re: ", "Precedence: list\nList-Id: <x.example.com>\n", "> "},
	{"an Exchange rule", "SV: ", "X-Auto-Response-Suppress: All\nX-MS-Exchange-Inbox-Rules-Loop: a@example.com\n" +
		"Auto-Submitted: auto-forwarded\n", "> "},
	{"a server with the null return path", "Re: ", "Return-Path: <>\n", "> "},
	{"Swedish", "Sv: ", "Precedence: bulk\n", "> "},
	{"Polish", "Odp.: ", "", "> "},
	{"Turkish", "Ynt: ", "", "> "},
	{"Chinese", "回复：", "", "> "},
	{"counted", "Re[2]: ", "", "> "},
	{"tagged", "[EXTERNAL] Re: ", "", "> "},
	{"without a prefix", "", "", "> "},
}

// answerOf returns an answer to the mail with the subject as a mail program writes it.
func answerOf(c client, subject, text string) []byte {
	return fmt.Appendf(nil, "From: Ada <ada@example.com>\nTo: hello@shop.example\n"+
		"Date: Mon, 3 Aug 2026 10:00:00 +0000\nMessage-ID: <r1@example.com>\nIn-Reply-To: <%s>\n"+
		"Subject: %s%s\n%sContent-Type: text/plain; charset=utf-8\n\n"+
		"%s\n\n%sGood day, shall we talk?\n", originalID, c.prefix, subject, c.header, text, c.above)
}

func TestNoAnswerOfAPersonIsTakenForAProgramsWhateverOurSubjectSays(t *testing.T) {
	t.Parallel()
	texts := table(t, "human_answers.txt")
	for _, row := range table(t, "humans.txt") {
		texts = append(texts, []string{row[0], row[3]})
	}
	all, doubtful := 0, map[string]int{}
	for i, subject := range ourSubjects {
		a := &classify.Answered{Subject: subject, Text: "Good day, shall we talk?", Named: true}
		for j, row := range texts {
			for k := range 2 { // each text by many clients, and each client with each subject
				c := clients[(i+j+k*4)%len(clients)]
				all++
				r := classify.About(parse.Parse(answerOf(c, subject, row[1])), a)
				if r.Class != classify.Human {
					t.Errorf("%s, %s, %q: %s", c.name, subject, row[1], r.Class)
				}
				if !r.Sure {
					doubtful[row[1]]++
				}
			}
		}
	}
	doubts := 0
	for text, n := range doubtful {
		doubts += n
		t.Logf("%d in doubt: %s", n, text)
	}
	t.Logf("%d answers, %d in doubt", all, doubts)
	if all < 2000 || doubts*100 > all {
		t.Errorf("%d of %d answers wait for a person: more than 1 %%", doubts, all)
	}
}

func TestAnAnswerIsAPersonsEvenIfOurMailIsNotKnown(t *testing.T) {
	t.Parallel()
	for i, subject := range ourSubjects {
		for j, row := range table(t, "human_answers.txt") {
			if c := clients[(i+j)%len(clients)]; c.prefix != "" {
				if r := classify.Of(parse.Parse(answerOf(c, subject, row[1]))); r.Class != classify.Human {
					t.Errorf("%s, %s, %q: %s", c.name, subject, row[1], r.Class)
				}
			}
		}
	}
}

func TestAProgramsAnswerIsKnownWhateverOurSubjectSays(t *testing.T) {
	t.Parallel()
	rows := table(t, "auto_replies.txt")
	for i, subject := range ourSubjects {
		for _, row := range rows[i%4*(len(rows)/4) : (i%4+1)*(len(rows)/4)] {
			theirs := strings.ReplaceAll(row[2], "Your engine", subject)
			m := parse.Parse([]byte(written(row[1], theirs, row[3])))
			if r := classify.About(m, &classify.Answered{Subject: subject}); r.Class != classify.AutoReply {
				t.Errorf("%s %s, %q: %s, sure %t", row[1], theirs, row[3], r.Class, r.Sure)
			}
		}
	}
}

func TestATextThatMayBeANoticeIsInDoubt(t *testing.T) {
	t.Parallel()
	a := &classify.Answered{Subject: "Your engine", Named: true}
	for text, want := range map[string]string{
		"I am on holiday until Monday.": "human false",
		"Ich bin im Urlaub.":            "human false",
		"Thanks for your mail. I am away until 21 August. We are at the fair in Hall 5. " +
			"For urgent matters call Tom.": "human false",
		"Thank you for your email. I am out of the office until 21 August. " +
			"In urgent cases please contact Tom.": "auto_reply true",
		"I am on holiday until Monday. Let's talk then.": "human true",
		"Not for us.": "human true",
	} {
		r := classify.About(parse.Parse(answerOf(clients[0], "Your engine", text)), a)
		if got := fmt.Sprint(r.Class, " ", r.Sure); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
