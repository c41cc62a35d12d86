package parse_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// file is the lines of an encoded file of some size.
type file struct{ left int }

func (f *file) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), f.left)
	for i := range p[:n] {
		p[i] = 'Q'
		if (f.left-i)%77 == 0 {
			p[i] = '\n'
		}
	}
	f.left -= n
	return n, nil
}

const before = "From: Ada <ada@example.com>\r\nTo: hello@shop.example\r\nSubject: Re: Looms\r\n" +
	"Message-ID: <big@example.com>\r\nIn-Reply-To: <ours@shop.example>\r\nDate: Mon, 2 Nov 2026 10:00:00 +0000\r\n" +
	"Content-Type: multipart/mixed; boundary=outer\r\n\r\nThis is a mail in parts.\r\n--outer\r\n" +
	"Content-Type: multipart/alternative; boundary=\"in ner\"\r\n\r\n--in ner\r\nContent-Type: text/plain\r\n\r\n" +
	"Yes, call me.\r\n--in ner\r\nContent-Type: text/html\r\n\r\n<p>Yes, call me.</p>\r\n--in ner--\r\n--outer\r\n" +
	"Content-Type: image/jpeg; name=looms.jpg\r\nContent-Transfer-Encoding: base64\r\n" +
	"Content-Disposition: attachment; filename=looms.jpg\r\n\r\n"

const after = "\r\n--outer\r\nContent-Type: text/plain\r\n\r\nSent from my loom.\r\n--outer--\r\n"

func large(size int) io.Reader {
	return io.MultiReader(strings.NewReader(before), &file{size}, strings.NewReader(after))
}

func TestALargeMailIsReadWithoutItsFiles(t *testing.T) {
	t.Parallel()
	const size = 140 << 20
	raw, err := parse.Receive(large(size))
	if err != nil || len(raw) > 1<<20 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	m := parse.Parse(raw)
	if m.Subject != "Re: Looms" || m.MessageID != "big@example.com" || m.From.Email != "ada@example.com" ||
		!cmp.Equal(m.References, []string{"ours@shop.example"}) || m.Text != "Yes, call me.\nSent from my loom." ||
		m.HTML != "<p>Yes, call me.</p>" {
		t.Errorf("the mail is %+v", m)
	}
	if len(m.Attachments) != 1 || m.Attachments[0].Name != "looms.jpg" ||
		m.Attachments[0].Size < size/2 || m.Attachments[0].Size > size {
		t.Errorf("the files are %+v", m.Attachments)
	}
	again, err := parse.Receive(large(size))
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("a copy is reduced to other bytes: %v", err)
	}
	unix := strings.NewReplacer("\r\n", "\n")
	other, err := parse.Reduce(io.MultiReader(strings.NewReader(unix.Replace(before)), &file{size},
		strings.NewReader(unix.Replace(after))))
	if err != nil || !bytes.Equal(essence(raw), essence(other)) {
		t.Errorf("a copy with other line ends is another mail: %v", err)
	}
	longer, err := parse.Receive(large(size + 1000))
	if err != nil || bytes.Equal(essence(raw), essence(longer)) {
		t.Errorf("a mail with another file is the same one: %v", err)
	}
}

func essence(raw []byte) []byte {
	h := sha256.New()
	parse.WriteEssence(h, raw)
	return h.Sum(nil)
}

func TestAMailUpToTheLimitStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1 << 10, parse.MaxBytes - len(before) - len(after)} {
		want, err := io.ReadAll(large(size))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parse.Receive(large(size)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, %v", len(want), len(got), err)
		}
	}
	if _, err := parse.Receive(large(parse.MaxReceived)); !errors.Is(err, parse.ErrTooLarge) {
		t.Errorf("a mail above the limit: %v", err)
	}
	failed := errors.New("lost")
	if _, err := parse.Receive(io.MultiReader(large(30<<20), broken{failed})); !errors.Is(err, failed) {
		t.Errorf("a mail that is cut off: %v", err)
	}
}

type broken struct{ error }

func (b broken) Read([]byte) (int, error) { return 0, b.error }

func TestALargeMailOfAnyFormIsReducedWithinBounds(t *testing.T) {
	t.Parallel()
	const size = 26 << 20
	for name, r := range map[string]io.Reader{
		"one line":    strings.NewReader(strings.Repeat("x", size)),
		"a text":      io.MultiReader(strings.NewReader("Subject: Hi\n\nYes.\n"), &file{size}),
		"a header":    io.MultiReader(strings.NewReader("Subject: Hi\nX-Long: "), &file{size}),
		"blank lines": strings.NewReader("Subject: Hi\n\n" + strings.Repeat("\n", size)),
		"many delimiters": strings.NewReader("Content-Type: multipart/mixed; " +
			"boundary=b\n\n" + strings.Repeat("--b\n\n", size/5)),
		"many parts": strings.NewReader("Content-Type: multipart/mixed; " +
			"boundary=b\n\n" + strings.Repeat("--b\n\nx\n", size/7)),
		"an HTML part":     io.MultiReader(strings.NewReader("Content-Type: text/html\n\n<p>Yes.</p>\n"), &file{size}),
		"no header at all": io.MultiReader(strings.NewReader("\n"), &file{size}),
		"a bounce": io.MultiReader(strings.NewReader("Content-Type: multipart/report; report-type=delivery-status; "+
			"boundary=b\n\n--b\n\nNot delivered.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: "+
			"dns; x\n\n"+
			"Final-Recipient: rfc822; ada@example.com\nAction: failed\nStatus: 5.1.1\n--b\nContent-Type: "+
			"message/rfc822\n\n"+
			"Message-ID: <ours@shop.example>\nSubject: Hi\n\n"), &file{size}),
	} {
		raw, err := parse.Receive(r)
		if err != nil || len(raw) > 10<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
			continue
		}
		m := parse.Parse(raw)
		if name == "a text" && !strings.HasPrefix(m.Text, "Yes.") || name == "an HTML part" && m.HTML == "" {
			t.Errorf("%s: the text is %.100q, %.100q", name, m.Text, m.HTML)
		}
		if name == "a bounce" && (len(m.Statuses) != 1 || m.Statuses[0].Code != "5.1.1" ||
			m.Original.Get("Message-ID") != "<ours@shop.example>") {
			t.Errorf("a bounce: %+v, %+v", m.Statuses, m.Original)
		}
	}
}

func TestReducingHoldsABoundedPartOfAMail(t *testing.T) {
	var from, to runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&from)
	raw, err := parse.Reduce(large(140 << 20))
	runtime.ReadMemStats(&to)
	if err != nil {
		t.Fatal(err)
	}
	if used := to.TotalAlloc - from.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes are allocated for a mail of 140 MiB, of which %d stay", used, len(raw))
	}
}
