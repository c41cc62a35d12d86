package parse_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// FuzzAReducedMailReadsAsTheWholeOne reduces mails that are small enough to be whole: who wrote what in answer to which
// mail is the same.
func FuzzAReducedMailReadsAsTheWholeOne(f *testing.F) {
	f.Add([]byte(before + "QUJD\r\n" + after))
	f.Add([]byte(strings.ReplaceAll(before+"QUJD\n"+after, "\r\n", "\n")))
	f.Add([]byte("Subject: Hi\n\nYes.\n"))
	f.Add([]byte("From: a@b.example\nContent-Type: multipart/mixed; " +
		"boundary=b\n\n--b\n\nOne\n--b\nContent-Type: text/html\n\n" +
		"<p>Two</p>\n--b--\nepilogue"))
	f.Add([]byte("Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nNo.\n--b\n" +
		"Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nFinal-Recipient: rfc822; a@b.example\n" +
		"Action: failed\nStatus: 5.1.1\n--b--\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		reduced, err := parse.Reduce(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse.Reduce(bytes.NewReader(raw))
		if err != nil || !bytes.Equal(reduced, again) {
			t.Fatalf("a mail is reduced to two forms: %v", err)
		}
		if len(raw) > 64<<10 || bytes.IndexByte(raw, '\n') < 0 || bytes.Contains(raw, []byte(parse.LeftOut)) {
			return // it meets other limits, or is no mail in lines
		}
		whole, small := parse.Parse(raw), parse.Parse(reduced)
		if whole.Cut || small.Cut {
			return
		}
		for what, got := range map[string][2]any{
			"Message-ID": {whole.MessageID, small.MessageID}, "From": {whole.From, small.From},
			"Subject": {whole.Subject, small.Subject}, "References": {whole.References, small.References},
			"type": {whole.ContentType, small.ContentType},
		} {
			if diff := cmp.Diff(got[0], got[1]); diff != "" {
				t.Errorf("the %s of the reduced mail differs (-whole +reduced):\n%s\nof %q\nreduced "+
					"%q", what, diff, raw, reduced)
			}
		}
	})
}
