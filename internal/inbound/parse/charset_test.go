package parse_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

func TestATextIsReadInTheCharsetThatItIsIn(t *testing.T) {
	t.Parallel()
	for charset, texts := range map[string][]string{
		"utf-8": {
			"Können wir am Dienstag sprechen?", "Давайте созвонимся", "火曜日にお願いします", "可以，周二见。", "좋습니다",
		},
		"windows-1252": {
			"Können wir am Dienstag sprechen? Grüße", "Ça me va, à bientôt l’ami",
			"¿Cuánto cuesta? Señor Muñoz", "10 € für dich",
		},
		"windows-1251": {"Спасибо за письмо, давайте созвонимся во вторник.", "Нам это интересно"},
		"koi8-r":       {"Спасибо за письмо, давайте созвонимся во вторник."},
		"shift_jis":    {"ご連絡ありがとうございます。火曜日にお願いします。"},
		"euc-jp":       {"ご連絡ありがとうございます。火曜日にお願いします。"},
		"iso-2022-jp":  {"ご連絡ありがとうございます。火曜日にお願いします。"},
		"gb18030":      {"谢谢您的邮件，请把报价单发给我。"},
		"euc-kr":       {"네, 좋습니다. 화요일에 통화하시죠. 감사합니다."},
	} {
		enc, err := htmlindex.Get(charset)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			raw, err := enc.NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, declared := range []string{charset, "", "us-ascii", "utf-8", "iso-8859-1", "x-unknown"} {
				header := "Content-Type: text/plain; charset=" + declared
				if declared == "" {
					header = "X-Mailer: none"
				}
				if got := strings.TrimSpace(parse.Parse([]byte(header + "\n\n" + raw)).Text); got != text {
					t.Errorf("%s declared as %q: %q, want %q", charset, declared, got, text)
				}
			}
		}
	}
}

func TestJunkBeforeTheHeaderIsPassedOver(t *testing.T) {
	t.Parallel()
	const mail = "From: ada@example.com\r\nSubject: Hello\r\nMessage-ID: <a@x>\r\n\r\nGood day"
	for name, junk := range map[string]string{
		"a byte order mark": "\ufeff", "empty lines": "\r\n\r\n",
		"the line of an mbox": "From ada Mon Aug  3 09:00:00 2026\r\n",
		"a quoted one":        ">From ada Mon Aug  3 09:00:00 2026\r\n\r\n",
		"a program's words":   "The mail follows\r\n\r\n",
		"spaces":              "   \r\n",
	} {
		m := parse.Parse([]byte(junk + mail))
		if m.Subject != "Hello" || m.From.Email != "ada@example.com" || strings.TrimSpace(m.Text) != "Good day" {
			t.Errorf("%s: %q from %q: %q", name, m.Subject, m.From.Email, m.Text)
		}
		if got := parse.SoleMessageID([]byte(junk + mail)); got != "a@x" {
			t.Errorf("%s: Message-ID %q", name, got)
		}
	}
}
