package parse_test

import (
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

func TestAMailIsReadAsItsSenderMeantIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mail, subject, from, text string }{
		"plain": {
			"From: Ada <ada@example.com>\r\nSubject: Hello\r\n\r\nGood day\r\n", "Hello", "ada@example.com", "Good day",
		},
		"encoded words": {
			"From: =?utf-8?q?Ad=C3=A4?= <ada@example.com>\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\n" +
				" =?utf-8?b?IPCfkYs=?=\n\nx",
			"Grüße 👋", "ada@example.com", "x",
		},
		"quoted-printable in another charset": {
			"Content-Type: text/plain; charset=iso-8859-15\nContent-Transfer-Encoding: quoted-printable\n\n" +
				"10 =A4 f=FCr=\n dich =ZZ", "", "", "10 € für dich =ZZ",
		},
		"base64 without padding and with rubbish": {
			"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nSGVs*bG8\n", "", "", "Hello",
		},
		"Shift_JIS": {
			"Content-Type: text/plain; charset=Shift_JIS\n\n\x95\x73\x8d\xdd", "", "", "不在",
		},
		"raw bytes without a charset": {"Subject: Gr\xfc\xdfe\n\nF\xfcr dich", "Grüße", "", "Für dich"},
		"alternatives": {
			"Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/html\n\n" +
				"<p>rich</p>\n--b--\n", "", "", "plain",
		},
		"HTML only": {
			"Content-Type: text/html\n\n<style>p{}</style><p>One<br>two</p><blockquote>old</blockquote>", "", "",
			"One\ntwo\n\n> old",
		},
		"a boundary that is not named": {
			"Content-Type: multipart/mixed\n\n--b1234567\n\nfound\n--b1234567--\n", "", "", "found",
		},
		"no end": {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfound", "", "", "found"},
		"lines of the header that are none": {
			"From ada Mon Aug 3\nFrom: ada@example.com\nnonsense\nSubject: Hello\n\nx", "Hello", "ada@example.com", "x",
		},
		"an address that is none": {"From: Ada at home <ada@@example.com\n\nx", "", "ada@@example.com", "x"},
		"carriage returns only":   {"Subject: Hello\r\rGood day", "Hello", "", "Good day"},
		"nothing":                 {"", "", "", ""},
	} {
		m := parse.Parse([]byte(c.mail))
		if m.Subject != c.subject || m.From.Email != c.from || strings.TrimSpace(m.Text) != c.text {
			t.Errorf("%s: %q %q %q", name, m.Subject, m.From.Email, m.Text)
		}
	}
}

func TestReferencesComeNearestFirst(t *testing.T) {
	t.Parallel()
	m := parse.Parse([]byte("Message-ID: <c@x>\nReferences: <a@x>\n <b@x>\nIn-Reply-To: <b@x> (Ada's mail)\n\n"))
	if got := m.MessageID + " " + strings.Join(m.References, " "); got != "c@x b@x a@x" {
		t.Error(got)
	}
}

func TestAttachmentsAreListedWithTheirDecodedSize(t *testing.T) {
	t.Parallel()
	file := base64.StdEncoding.EncodeToString(make([]byte, 3000))
	m := parse.Parse([]byte("Content-Type: multipart/mixed; boundary=b\n\n--b\n\nSee the file\n--b\n" +
		"Content-Type: application/pdf; name=\"=?utf-8?q?=C3=84.pdf?=\"\nContent-Transfer-Encoding: base64\n\n" + file +
		"\n--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nhello\n--b--\n"))
	if got := fmt.Sprint(m.Attachments); got != "[{Ä.pdf application/pdf 3000} {a.txt text/plain 5}]" ||
		strings.TrimSpace(m.Text) != "See the file" {
		t.Errorf("%s, text %q", got, m.Text)
	}
}

func TestAReplyEndsWhereTheQuotedMailBegins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"English":        {"Yes\n\nOn Mon, Aug 3, 2026 at 9:00 AM Ada <ada@example.com> wrote:\n> old", "Yes"},
		"folded":         {"Yes\n\nOn Mon, Aug 3, 2026 at 9:00 AM Ada L\n<ada@example.com> wrote:\n> old", "Yes"},
		"German":         {"Ja\n\nAm Mo., 3. Aug. 2026 um 09:00 Uhr schrieb Ada <ada@example.com>:\n> alt", "Ja"},
		"French":         {"Oui\n\nLe lun. 3 août 2026 à 09:00, Ada <ada@example.com> a écrit :\n> ancien", "Oui"},
		"Spanish":        {"Sí\n\nEl lun, 3 ago 2026 a las 9:00, Ada (<ada@example.com>) escribió:\n> viejo", "Sí"},
		"Italian":        {"Sì\n\nIl giorno lun 3 ago 2026 alle 09:00 Ada <a@b.example> ha scritto:\n> vecchio", "Sì"},
		"Portuguese":     {"Sim\n\nEm seg., 3 de ago. de 2026 às 09:00, Ada <a@example.com> escreveu:\n> velho", "Sim"},
		"Dutch":          {"Ja\n\nOp ma 3 aug 2026 om 09:00 schreef Ada <ada@example.com>:\n> oud", "Ja"},
		"Swedish":        {"Ja\n\nDen mån 3 aug. 2026 kl 09:00 skrev Ada <ada@example.com>:\n> gammal", "Ja"},
		"Polish":         {"Tak\n\nW dniu pon., 3 sie 2026 o 09:00 Ada <ada@example.com> napisał(a):\n> stare", "Tak"},
		"Russian":        {"Да\n\nпн, 3 авг. 2026 г. в 09:00, Ada <ada@example.com> пишет:\n> старое", "Да"},
		"Japanese":       {"はい\n\n2026年8月3日(月) 9:00 Ada <ada@example.com> さんは書きました:\n> 古い", "はい"},
		"Chinese":        {"好\n\n在 2026年8月3日，Ada <ada@example.com> 写道：\n> 旧", "好"},
		"Outlook":        {"Yes\n\n________________________________\nFrom: Ada\nSent: Monday\nTo: Bob\n\nold", "Yes"},
		"Outlook, plain": {"Ja\n\nVon: Ada <ada@example.com>\nGesendet: Montag\nAn: Bob\nBetreff: x\n\nalt", "Ja"},
		"a separator":    {"Yes\n\n-----Original Message-----\nFrom: Ada\n\nold", "Yes"},
		"inline":         {"> Do you come?\nYes\n\n> When?\nOn Monday", "Yes\n\nOn Monday"},
		"a signature":    {"Yes\n\n-- \nAda\nEngines Ltd", "Yes"},
		"a telephone":    {"Yes\n\nSent from my iPhone", "Yes"},
		"nothing quoted": {
			"On Monday I wrote a letter.\nFrom: is a word.\nDone",
			"On Monday I wrote a letter.\nFrom: is a word.\nDone",
		},
		"only a quote":  {"> old", ""},
		"lines between": {"a\n\n\n\nb", "a\n\nb"},
	} {
		if got := parse.ReplyTo(c.text, ""); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAFeedbackReportNamesTheMail(t *testing.T) {
	t.Parallel()
	m := parse.Parse([]byte("Content-Type: multipart/report; report-type=feedback-report; boundary=b\n\n" +
		"--b\n\nAbuse\n" +
		"--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nOriginal-Rcpt-To: <Ada@example.com>\n" +
		"--b\nContent-Type: message/rfc822\n\nMessage-ID: <m@shop.example>\nSubject: x\n\nbody\n--b--\n"))
	if m.Feedback == nil || m.Feedback.Type != "abuse" || m.Feedback.Recipient != "ada@example.com" ||
		m.Original.MessageID() != "m@shop.example" {
		t.Errorf("%+v, original %v", m.Feedback, m.Original)
	}
}

func TestHostileMailsCostLittle(t *testing.T) { //nolint:paralleltest // measures memory and time
	deep := strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(&deep, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	for name, mail := range map[string]string{
		"parts within parts": deep.String(),
		"a million parts": "Content-Type: multipart/mixed; boundary=b\n\n" +
			strings.Repeat("--b\n\nx\n", 1_000_000),
		"a long field":          "Subject: " + strings.Repeat("x", 20<<20) + "\n\n",
		"many fields":           strings.Repeat("A: b\n", 2_000_000) + "\nx",
		"many continuations":    "References: x\n" + strings.Repeat(" <a@b>\n", 2_000_000) + "\nx",
		"much base64":           "Content-Transfer-Encoding: base64\n\n" + strings.Repeat("QUFB", 6<<20),
		"much quoted-printable": "Content-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat("=41=\n", 5<<20),
		"open tags":             "Content-Type: text/html\n\n" + strings.Repeat("<div><blockquote>", 1<<20),
		"quoted lines":          "\n" + strings.Repeat("On a wrote:\n", 1<<20),
		"colons":                "\n" + strings.Repeat(":\n", 8<<20),
		"encoded words":         "Subject: " + strings.Repeat("=?utf-8?q?a?= ", 1<<20) + "\n\n",
		"addresses":             "To: " + strings.Repeat("a@b.example,", 1<<20) + "\n\n",
		"boundaries in lines":   "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--bx --b\n", 2<<20),
		"too large":             "\n" + strings.Repeat("x", parse.MaxBytes+1),
	} {
		raw := []byte(mail)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		m := parse.Parse(raw)
		parse.ReplyTo(m.Text, "")
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		// Everything that was allocated, whether or not it was in use at the same time.
		used := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%-22s %7d KiB: %4d ms, %3d MiB", name, len(raw)>>10, took.Milliseconds(), used)
		if took > 5*time.Second || used > 64 {
			t.Errorf("%s: %v, %d MiB", name, took, used)
		}
		if len(m.Text)+len(m.HTML) > 4<<20 {
			t.Errorf("%s: %d bytes of text", name, len(m.Text)+len(m.HTML))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("From: a@b.example\nSubject: x\n\nHello\n> old"))
	f.Add([]byte("Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n" +
		"Final-Recipient: rfc822; a@b.example\nAction: failed\nStatus: 5.1.1\n--b--"))
	f.Add([]byte("Content-Type: text/html; charset=utf-16\nContent-Transfer-Encoding: quoted-printable\n\n<p>=3D"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := parse.Parse(raw)
		parse.ReplyTo(m.Text, "")
		if strings.ContainsRune(m.Subject, '\n') || len(m.Attachments) > 100 {
			t.Errorf("subject %q, %d files", m.Subject, len(m.Attachments))
		}
	})
}
