package diagnosis_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
)

// rows reads the rows of a table of replies.
func rows(t *testing.T, file string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if len(row) != 6 {
			t.Fatalf("%d columns: %s", len(row), line)
		}
		all = append(all, row)
	}
	return all
}

func replyOf(t *testing.T, code, enhanced, text string) diagnosis.Reply {
	t.Helper()
	r := diagnosis.Reply{Enhanced: enhanced, Text: text}
	if code != "" {
		n, err := strconv.Atoi(code)
		if err != nil {
			t.Fatal(err)
		}
		r.Code = n
	}
	return r
}

func TestARefusalOfTheSenderIsNeverTheRecipients(t *testing.T) {
	t.Parallel()
	all := rows(t, "sender_replies.txt")
	if len(all) < 60 {
		t.Errorf("the table has %d replies", len(all))
	}
	for _, row := range all {
		d := diagnosis.Of(replyOf(t, row[2], row[3], row[4]))
		if d.About != diagnosis.Sender || string(d.Reason) != row[5] || d.IsHard() {
			t.Errorf("%s, %s %s %s: %+v, want %s", row[0], row[2], row[3], row[4], d, row[5])
		}
	}
}

func TestAReplyIsOfTheRecipientTheMessageOrTheNetwork(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "other_replies.txt") {
		d := diagnosis.Of(replyOf(t, row[3], row[4], row[5]))
		if string(d.About) != row[0] || string(d.Reason) != row[1] || d.IsHard() != (row[2] == "hard") {
			t.Errorf("%s %s %s: %+v, want %s", row[3], row[4], row[5], d, row[:3])
		}
	}
}

// A report has no columns: code and text are one line.
func TestAReplyInOneLineMeansTheSame(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "sender_replies.txt") {
		line := strings.TrimSpace(row[2] + " " + row[3] + " " + row[4])
		if d := diagnosis.Of(diagnosis.Reply{Text: line}); d.About != diagnosis.Sender || d.IsHard() {
			t.Errorf("%s: %+v, want %s", line, d, row[5])
		}
	}
	for _, row := range rows(t, "other_replies.txt") {
		line := strings.TrimSpace(row[3] + " " + row[4] + " " + row[5])
		if d := diagnosis.Of(diagnosis.Reply{Text: line}); d.IsHard() != (row[2] == "hard") {
			t.Errorf("%s: %+v, want %s", line, d, row[:3])
		}
	}
}

// Words of the sender, of rates, sizes and policies are never hard, whatever the code is.
func TestNoCodeMakesAnotherFaultThanTheAddressesHard(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Message size exceeds the limit", "blocked by policy", "try again later", "rate limit exceeded",
		"daily sending limit reached", "mailbox full", "your IP has a poor reputation", "sender address rejected",
		"relay access denied", "spam detected", "greylisted, please retry", "too many connections",
		"DMARC policy of the domain", "authentication required", "virus found", "attachment type not allowed",
	} {
		for _, code := range []string{"", "550", "551", "553", "554"} {
			for _, enhanced := range []string{"", "5.1.1", "5.2.1", "5.1.10", "5.7.1", "5.0.0", "5.1.0"} {
				if d := diagnosis.Of(replyOf(t, code, enhanced, text)); d.IsHard() {
					t.Errorf("%s %s %s: %+v", code, enhanced, text, d)
				}
			}
		}
	}
}

func TestAServerSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"Domain is not allowed to send: recipient limit exceeded. Try again after 30 minutes": 30 * time.Minute,
		"limit reached, retry in 3600 seconds":                                                time.Hour,
		"Hourly limit. Please try again in 1 hour":                                            time.Hour,
		"please wait 15m":                       15 * time.Minute,
		"try again in 400 hours":                24 * time.Hour,
		"try again later":                       0,
		"message 4711 was not accepted, 30 min": 0,
	} {
		if got := diagnosis.Of(diagnosis.Reply{Code: 450, Text: text}).After; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add(550, "5.1.1", "user unknown")
	f.Fuzz(func(t *testing.T, code int, enhanced, text string) {
		d := diagnosis.Of(diagnosis.Reply{Code: code, Enhanced: enhanced, Text: text})
		if d.About == "" || d.Reason == "" || d.IsHard() && d.IsPolicy() {
			t.Errorf("%+v", d)
		}
	})
}
