package requestlog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/requestlog"
)

func TestABodyIsKeptWithItsFaultyValuesAlone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 300)
	for name, c := range map[string]struct {
		body, want string
		faulty     []string
	}{
		"a member":     {`{"email":"x@","name":"Ada"}`, `{"email":"x@","name":"[redacted]"}`, []string{"#/email"}},
		"null":         {`{"a":null}`, `{"a":null}`, nil},
		"no member":    {`{"email":"x@y.example"}`, `{"email":"[redacted]"}`, nil},
		"the whole":    {`{"a":1}`, `{"a":"[redacted]"}`, []string{"#"}},
		"a number":     {`{"a":1234567890123456789012}`, `{"a":1234567890123456789012}`, []string{"#/a"}},
		"a boolean":    {`{"a":true,"b":true}`, `{"a":"[redacted]","b":true}`, []string{"#/b"}},
		"an object":    {`{"a":{"b":"c"}}`, `{"a":{"b":"[redacted]"}}`, []string{"#/a"}},
		"a deep one":   {`{"a":{"x/y":"c","d":1}}`, `{"a":{"d":"[redacted]","x/y":"c"}}`, []string{"#/a/x~1y"}},
		"an element":   {`{"a":["p","q","r"]}`, `{"a":["[redacted]","q"]}`, []string{"#/a/1"}},
		"a list":       {`{"a":["p","q"]}`, `{"a":"[redacted]"}`, []string{"#/a"}},
		"far":          {`{"a":[1]}`, `{"a":[]}`, []string{"#/a/999999999"}},
		"a list alone": {`["a"]`, `"[redacted]"`, nil},
		"escaped":      {`{"ä":"<b>"}`, `{"ä":"<b>"}`, []string{"#/%C3%A4"}},
		"long":         {`{"a":"` + long + `"}`, `{"a":"` + strings.Repeat("ä", 200) + `…"}`, []string{"#/a"}},
		"too long":     {`{"a":[` + strings.Repeat(`1,`, 999) + `1]}`, ``, []string{"#/a/999"}},
		"no JSON":      {`{"a":`, ``, nil},
		"nothing":      {``, ``, nil},
	} {
		if diff := cmp.Diff(c.want, string(requestlog.Redact([]byte(c.body), c.faulty))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestASecretIsNeverKept(t *testing.T) {
	t.Parallel()
	for _, member := range []string{
		`"password":"hunter2"`, `"new_password":"hunter2"`, `"client_secret":"hunter2"`, `"refresh_token":"hunter2"`,
		`"Api Key":"hunter2"`, `"code":"hunter2"`, `"note":"fw_hunter2"`, `"note":"my key is sk_live_hunter2"`,
		`"note":"Bearer hunter2"`, `"note":"whsec_hunter2"`, `"url":"https://me:hunter2@acme.example/x"`,
		`"url":"https://acme.example/x?t=hunter2"`, `"url":"https://acme.example/#hunter2"`,
		`"note":"0123456789abcdefhunter20123456789abcdef"`, `"note":"eyJhbGciOiJFZERTQSJ9.hunter2"`,
	} {
		name, _, _ := strings.Cut(strings.Trim(member, `"`), `"`)
		pointer := "#/" + strings.ReplaceAll(name, " ", "%20")
		got := string(requestlog.Redact([]byte("{"+member+"}"), []string{pointer}))
		if strings.Contains(got, "hunter2") || !strings.Contains(got, "[redacted]") {
			t.Errorf("%s: %s", member, got)
		}
	}
	nested := requestlog.Redact([]byte(`{"credentials":{"user":"hunter2"}}`), []string{"#/credentials/user"})
	if strings.Contains(string(nested), "hunter2") {
		t.Errorf("within a secret: %s", nested)
	}
	id := `{"contact_id":"0192f3a4-5b6c-7d8e-9f00-112233445566"}`
	if got := string(requestlog.Redact([]byte(id), []string{"#/contact_id"})); got != id {
		t.Errorf("an id is no secret: %s", got)
	}
}
