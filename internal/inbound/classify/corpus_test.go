package classify_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// headers are the headers that the columns of the corpus name.
var headers = map[string]string{
	"bare":     "",
	"exchange": "Auto-Submitted: auto-generated\nX-Auto-Response-Suppress: All\n",
	"gmail":    "Auto-Submitted: auto-replied\nPrecedence: bulk\nX-Autoreply: yes\nReturn-Path: <>\n",
	"vacation": "Auto-Submitted: auto-replied (vacation)\nPrecedence: junk\n",
	"bulk":     "Precedence: bulk\n",
	"null":     "Return-Path: <>\n",
	"ticket":   "Auto-Submitted: auto-generated\nX-Auto-Response-Suppress: OOF\n",
	"noreply":  "Reply-To: nobody@example.com\n", // and another From, below
	// What lists and the forwarding rules of Exchange add to a person's mail.
	"forwarded":   "X-Auto-Response-Suppress: All\nX-MS-Exchange-Inbox-Rules-Loop: ada@example.com\n",
	"list":        "Precedence: list\nList-Id: <engines.example.com>\nIn-Reply-To: <first@shop.example>\n",
	"newsletter":  "Precedence: bulk\nList-Unsubscribe: <https://example.com/u>\nList-Id: <news.example.com>\n",
	"listpost":    "List-Post: <mailto:engines@example.com>\nPrecedence: list\n",
	"unsubscribe": "X-Original-To: unsubscribe@shop.example\n",
	"daemon":      "Return-Path: <>\n", // and another From, below
}

const originalID = "k5x4q2mzt3a7vnp6@shop.example"

// example is a mail of the corpus with what is expected of it.
type example struct {
	name, class, bounce, until, mail string
}

// table reads the lines of a file with their columns.
func table(t *testing.T, file string) (rows [][]string) {
	t.Helper()
	for line := range strings.SplitSeq(read(t, file), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		columns := strings.Split(line, "|")
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		rows = append(rows, columns)
	}
	return rows
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// written returns a mail from a person with a header of headers.
func written(header, subject, text string) string {
	from := "Ada <ada@example.com>"
	switch header {
	case "noreply":
		from = "Example <no-reply@example.com>"
	case "daemon":
		from = "MAILER-DAEMON@example.com"
	}
	return fmt.Sprintf("From: %s\nTo: hello@shop.example\nDate: Mon, 3 Aug 2026 10:00:00 +0000\n"+
		"Message-ID: <r1@example.com>\nSubject: %s\n%sContent-Type: text/plain; charset=utf-8\n\n%s\n",
		from, subject, headers[header], strings.ReplaceAll(text, "¶", "\n"))
}

func corpus(t *testing.T) (all []example) {
	t.Helper()
	for _, c := range table(t, "auto_replies.txt") {
		all = append(all, example{"auto " + c[0] + " " + c[3], classify.AutoReply, "", c[4], written(c[1], c[2], c[3])})
	}
	for _, c := range table(t, "humans.txt") {
		all = append(all, example{"human " + c[0] + " " + c[3], classify.Human, "", "", written(c[1], c[2], c[3])})
	}
	for _, c := range table(t, "others.txt") {
		all = append(all, example{c[0] + " " + c[3], c[0], "", "", written(c[1], c[2], c[3])})
	}
	for _, c := range table(t, "reports.txt") {
		all = append(all, report(c))
	}
	for i, one := range strings.Split(read(t, "bounces.txt"), "\n=== ") {
		if i == 0 {
			continue
		}
		title, mail, _ := strings.Cut(one, "\n")
		kind, server, _ := strings.Cut(title, " ")
		mail = strings.ReplaceAll(mail, "{{original}}",
			"From: hello@shop.example\nTo: ada@example.com\nSubject: Your engine\nMessage-ID: <"+originalID+">\n")
		all = append(all, example{
			"bounce " + server, classify.Bounce, kind, "",
			"To: hello@shop.example\nDate: Mon, 3 Aug 2026 10:00:00 +0000\n" + mail,
		})
	}
	return all
}

// report returns a delivery status notification from a row of reports.txt.
func report(c []string) example {
	class, kind := classify.Bounce, c[0]
	if kind == classify.DeliveryReport {
		class, kind = kind, ""
	}
	return example{"report " + c[5], class, kind, "", strings.Join([]string{
		"From: " + c[1], "To: hello@shop.example", "Subject: " + c[2], "Return-Path: <>",
		"Auto-Submitted: auto-replied",
		"Date: Mon, 3 Aug 2026 10:00:00 +0000", "MIME-Version: 1.0",
		`Content-Type: multipart/report; report-type=delivery-status; boundary="b1"`, "", "--b1", "", c[6], "", "--b1",
		"Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.example.net", "",
		"Final-Recipient: rfc822; ada@example.com", "Action: " + c[3], "Status: " + c[4],
		"Diagnostic-Code: smtp; " + c[5], "", "--b1", "Content-Type: text/rfc822-headers", "",
		"Message-ID: <" + originalID + ">", "Subject: Your engine", "",
		"--b1--", "",
	}, "\n")}
}

// counts is what a half of the corpus came to.
type counts struct {
	all, wrong, bounces, wrongKind, original, dated, wrongDate int
}

// measure classifies a half of the corpus: the odd examples of each file, or the even ones.
func measure(t *testing.T, heldOut bool) (n counts) {
	t.Helper()
	files := map[string]int{}
	for _, e := range corpus(t) {
		file, _, _ := strings.Cut(e.name, " ")
		if files[file]++; files[file]%2 == 0 != heldOut {
			continue
		}
		n.all++
		got := classify.Of(parse.Parse([]byte(e.mail)))
		if got.Class != e.class {
			n.wrong++
			t.Logf("%s: %s, want %s", e.name, got.Class, e.class)
		}
		if got.Class == classify.Human && (e.class == classify.AutoReply || e.class == classify.Bounce) {
			t.Errorf("%s: a program's mail is called human", e.name)
		}
		if e.bounce != "" {
			n.bounces++
			if got.Bounce != e.bounce {
				n.wrongKind++
				t.Logf("%s: %q (%s, %s), want %s", e.name, got.Bounce, got.Code, got.Diagnostic, e.bounce)
			}
			if got.Original != originalID || !strings.HasPrefix(got.Recipient, "ada@") {
				n.original++
				t.Logf("%s: original %q, recipient %q", e.name, got.Original, got.Recipient)
			}
		}
		if e.until == "" || got.Class != classify.AutoReply {
			continue
		}
		n.dated++
		until := "-"
		if got.Until != nil {
			until = got.Until.Format(time.DateOnly)
		}
		if until != e.until {
			n.wrongDate++
			t.Logf("%s: until %s, want %s", e.name, until, e.until)
		}
	}
	t.Logf("%+v", n)
	return n
}

func check(t *testing.T, n counts) {
	t.Helper()
	if n.wrong*100 > n.all {
		t.Errorf("%d of %d classes are wrong: more than 1 %%", n.wrong, n.all)
	}
	if n.wrongKind*100 > 3*n.bounces {
		t.Errorf("%d of %d kinds of bounces are wrong: more than 3 %%", n.wrongKind, n.bounces)
	}
	if n.original*100 > n.bounces {
		t.Errorf("the original or the recipient of %d of %d bounces is wrong: more than 1 %%", n.original, n.bounces)
	}
	if n.wrongDate*100 > 5*n.dated {
		t.Errorf("%d of %d days of return are wrong: more than 5 %%", n.wrongDate, n.dated)
	}
}

func TestTheRulesKnowTheExamplesTheyWereWrittenFrom(t *testing.T) {
	t.Parallel()
	check(t, measure(t, false))
}

func TestTheRulesHoldForExamplesThatWereHeldOut(t *testing.T) {
	t.Parallel()
	check(t, measure(t, true))
}

func FuzzClassify(f *testing.F) {
	f.Add([]byte("From: a@b.example\n\nHello"))
	f.Add([]byte(written("exchange", "Automatic reply", "I am away until 3 May")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := classify.Of(parse.Parse(raw))
		known := false
		for _, c := range classify.Classes() {
			known = known || r.Class == c
		}
		if !known || (r.Class == classify.Bounce) != (r.Bounce != "") {
			t.Errorf("class %q, bounce %q", r.Class, r.Bounce)
		}
	})
}
