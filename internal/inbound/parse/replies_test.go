package parse_test

import (
	"os"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// quotedMail is the mail that the replies answer.
const quotedMail = "Good day,\n\nyour engine needs oil. Shall we bring some on Thursday?\n\nKind regards\nShop Ltd\n" +
	"If you no longer wish to hear from us, unsubscribe here: https://shop.example/u/1"

// written are replies as people write them.
var written = []string{
	"Yes, please. Thursday is fine",
	"Hello,\n\nthank you. What does it cost?\n\nRegards\nAda",
	"Am Donnerstag geht es nicht.\nFreitag um 10:00 wäre besser:\n- vorn\n- hinten",
	"はい、お願いします",
}

// marked returns the mail that is answered with marks.
func marked() string { return "> " + strings.ReplaceAll(quotedMail, "\n", "\n> ") }

func TestTheReplyIsFoundInTheMailsOfEveryProgram(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/attributions.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, wrong := 0, 0
	for line := range strings.SplitSeq(string(text), "\n") {
		column := strings.SplitN(line, " | ", 3)
		if len(column) < 3 {
			continue
		}
		above := strings.ReplaceAll(column[2], "¶", "\n")
		for _, reply := range written {
			for style, mail := range map[string]string{
				"above marked lines":   reply + "\n\n" + above + "\n\n" + marked(),
				"above unmarked lines": reply + "\n\n" + above + "\n\n" + quotedMail,
				"below marked lines":   above + "\n" + marked() + "\n\n" + reply + "\n",
				"with a signature":     reply + "\n-- \nAda\nEngines Ltd\n\n" + above + "\n" + marked(),
				"on a telephone":       reply + "\n\nSent from my iPhone\n\n" + above + "\n\n" + marked(),
			} {
				all++
				if got := parse.ReplyTo(mail, quotedMail); got != reply {
					wrong++
					t.Logf("%s, %s, %s: %q, want %q", column[0], column[1], style, got, reply)
				}
			}
		}
	}
	t.Logf("%d of %d replies are found", all-wrong, all)
	if all < 1000 || wrong*100 > 5*all {
		t.Errorf("%d of %d replies are not what was written: more than 5 %%", wrong, all)
	}
}

func TestAReplyBetweenTheLinesOfTheMailIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mail, want string }{
		"between marked lines": {
			"On Mon, Aug 3, 2026 at 9:00 AM Shop <hello@shop.example> wrote:\n> Do you need oil?\n\nYes\n\n" +
				"> When?\nOn Thursday\n\n> Regards",
			"Yes\n\nOn Thursday",
		},
		"between unmarked lines that are ours": {
			"See below.\n\nOn Mon, Aug 3, 2026 at 9:00 AM Shop <hello@shop.example> wrote:\n\nGood day,\n\n" +
				"your engine needs oil. Shall we bring some on Thursday?\nYes, in the morning please\n\n" +
				"Kind regards\nShop Ltd\n" +
				"If you no longer wish to hear from us, unsubscribe here: https://shop.example/u/1",
			"",
		},
		"our footer without a mark": {
			"Yes\n\nIf you no longer wish to hear from us, unsubscribe here: https://shop.example/u/1", "Yes",
		},
		"our lines wrapped anew": {
			"Yes\n\nyour engine needs oil. Shall we\nbring some on Thursday?", "Yes",
		},
	} {
		got := parse.ReplyTo(c.mail, quotedMail)
		if c.want == "" {
			if !strings.Contains(got, "See below.") || !strings.Contains(got, "Yes, in the morning please") ||
				strings.Contains(got, "oil") || strings.Contains(got, "unsubscribe") {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
