package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api/examples"
)

var (
	uuidText = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// dateMember is a day that depends on the day of the test.
	dateMember = regexp.MustCompile(`"(from|to|day)":\s*"(\d{4}-\d\d-\d\d)"`)
	// positionMember is the position of a deal that was never moved, which holds the deal's id; see deals.byAge.
	positionMember = regexp.MustCompile(`"position":\s*"([0-9a-f]{32})i"`)
	timeText       = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	// secretMember is a member that holds a secret or a value for a single use, whatever it looks like.
	secretMember = regexp.MustCompile(`"(access_token|refresh_token|token|secret|key|client_secret|state|code|` +
		`next_cursor|confirmation_code|signed_request)":\s*"((?:whsec_|fw_)?)([^"\\]{16,})"`)
	// keyRecord is a DNS record of a key, and keySelector a part of its name.
	keyRecord   = regexp.MustCompile(`k=rsa; p=[A-Za-z0-9+/=]+`)
	keySelector = regexp.MustCompile(`\bfw[0-9a-f]{10}\._domainkey`)
	// longWord is a run of letters and digits that may be random.
	longWord = regexp.MustCompile(`[A-Za-z0-9_-]{20,}`)
	// foreignID is an id of the payment processor.
	foreignID = regexp.MustCompile(
		`\b(acct|cs|cus|evt|in|pi|price|prod|seti|si|sub|bps)_[A-Za-z0-9_]*\d[A-Za-z0-9_]*\b`,
	)
	// testHosts are the hosts of the harness, and the platform's name, which a brand may hide, and what an example
	// shows instead.
	testHosts = strings.NewReplacer(
		"http://api.test", "https://api.example.com",
		"http%3A%2F%2Fapi.test", "https%3A%2F%2Fapi.example.com",
		"http://ops.test", "https://ops.example.com",
		"http://oauth.test", "https://platform.example",
		"http://stripe.test", "https://payments.example",
		domainsTarget, "edge.example.com",
		"127.0.0.1", "203.0.113.7",
		"funnelwork", "service",
		"Funnelwork", "Example",
	)
)

// exampleTime is the time of every example.
var exampleTime = time.Date(2026, time.January, 15, 9, 30, 0, 0, time.UTC)

// stable replaces what differs between two runs, and everything that looks like a secret, in a request and its
// response. Equal ids stay equal in both. Times keep their distance from the beginning of the test, in hours; a time
// more than a day before it is a constant. Of a long response, two elements of every array of objects remain.
func (r *recorder) stable(request, response []byte) (json.RawMessage, json.RawMessage) {
	ids := map[string]string{}
	stableID := func(old string) string {
		if ids[old] == "" {
			ids[old] = fmt.Sprintf("%s%012d", examples.IDPrefix, len(ids)+1)
		}
		return ids[old]
	}
	replace := func(text []byte) json.RawMessage {
		if len(text) == 0 {
			return nil
		}
		s := uuidText.ReplaceAllStringFunc(testHosts.Replace(string(text)), stableID)
		s = positionMember.ReplaceAllStringFunc(s, func(member string) string {
			return stablePosition(member, stableID)
		})
		s = timeText.ReplaceAllStringFunc(s, r.stableTime)
		s = dateMember.ReplaceAllStringFunc(s, r.stableDate)
		s = secretMember.ReplaceAllString(s, `"${1}":"${2}`+examples.Placeholder+`"`)
		s = keyRecord.ReplaceAllString(s, "k=rsa; p="+examples.Placeholder)
		s = keySelector.ReplaceAllString(s, "fw0a1b2c3d4e._domainkey")
		s = foreignID.ReplaceAllString(s, "${1}_"+examples.Placeholder)
		return json.RawMessage(longWord.ReplaceAllStringFunc(s, func(word string) string {
			if looksRandom(word) {
				return examples.Placeholder
			}
			return word
		}))
	}
	if len(response) > longExample {
		response = r.shorten(response)
	}
	return replace(request), replace(response)
}

// longExample is the size in bytes above which a response is shortened.
const longExample = 8 << 10

// shorten keeps two elements of every array of objects, and the order of members.
func (r *recorder) shorten(text []byte) []byte {
	r.Helper()
	var out bytes.Buffer
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := copyShortened(in, &out); err != nil {
		r.Fatalf("shorten %s: %v", text, err)
	}
	return out.Bytes()
}

// copyShortened copies one value.
func copyShortened(in *json.Decoder, out *bytes.Buffer) error {
	token, err := in.Token()
	if err != nil {
		return err
	}
	opening, nested := token.(json.Delim)
	if !nested {
		text, err := json.Marshal(token)
		out.Write(text)
		return err
	}
	out.WriteRune(rune(opening))
	for n := 0; in.More(); n++ {
		var one bytes.Buffer
		if opening == '{' {
			if err := copyShortened(in, &one); err != nil {
				return err
			}
			one.WriteByte(':')
		}
		if err := copyShortened(in, &one); err != nil {
			return err
		}
		if opening == '[' && n >= 2 && one.Bytes()[0] == '{' {
			continue
		}
		if n > 0 {
			out.WriteByte(',')
		}
		out.Write(one.Bytes())
	}
	closing, err := in.Token()
	if end, ok := closing.(json.Delim); ok {
		out.WriteRune(rune(end))
	}
	return err
}

func (r *recorder) stableTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || r.began.Sub(at) > 24*time.Hour {
		return text
	}
	return exampleTime.Add(at.Sub(r.began).Round(time.Hour)).Format(time.RFC3339)
}

// stableDate keeps the distance of a member's day from the day of the test.
func (r *recorder) stableDate(member string) string {
	parts := dateMember.FindStringSubmatch(member)
	day, err := time.Parse(time.DateOnly, parts[2])
	if err != nil {
		return member
	}
	const length = 24 * time.Hour
	moved := exampleTime.Truncate(length).Add(day.Sub(r.began.UTC().Truncate(length)))
	return `"` + parts[1] + `":"` + moved.Format(time.DateOnly) + `"`
}

// stablePosition replaces the id in a position as stableID does.
func stablePosition(member string, stableID func(string) string) string {
	flip := func(hex string) string {
		const digits = "0123456789abcdef"
		return strings.Map(func(d rune) rune { return rune(digits[15-strings.IndexRune(digits, d)]) }, hex)
	}
	hex := flip(positionMember.FindStringSubmatch(member)[1])
	old := hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
	return `"position":"` + flip(strings.ReplaceAll(stableID(old), "-", "")) + `i"`
}

// looksRandom reports whether a word is a long hexadecimal number, or mixes digits with letters of both cases.
func looksRandom(word string) bool {
	hex := strings.Trim(word, "0123456789abcdef") == ""
	return hex && len(word) >= 32 || strings.ContainsAny(word, "0123456789") && strings.ToLower(word) != word &&
		strings.ToUpper(word) != word
}

func TestAnExampleHasNothingThatDiffersBetweenRunsOrLooksLikeASecret(t *testing.T) {
	t.Parallel()
	r := &recorder{began: time.Date(2030, time.May, 1, 12, 0, 0, 0, time.UTC)}
	request, response := r.stable(
		[]byte(`{"contact_id":"0197b2a4-0d35-7b4e-9f0c-3a5e1d2c4b60","refresh_token":"abcdefghijklmnopqrst"}`),
		[]byte(`{"id":"0197b2a4-0d35-7b4e-9f0c-3a5e1d2c4b61","contact_id":"0197b2a4-0d35-7b4e-9f0c-3a5e1d2c4b60",`+
			`"created_at":"2030-05-01T12:00:07.25Z","trial_ends_at":"2030-05-15T12:00:06Z",`+
			`"position":"fe684d5bf2ca84b160f3c5a1e2d3b49ei","day":"2030-04-30",`+
			`"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw","key":"segment","customer":"cus_00000012",`+
			`"download_url":"http://api.test/api/v1/files/Zm9vYmFyYmF6cXV4MTIzNDU2"}`))
	if diff := cmp.Diff(`{"contact_id":"0192a000-0000-7000-8000-000000000001","refresh_token":"EXAMPLE"}`,
		string(request)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`{"id":"0192a000-0000-7000-8000-000000000002",`+
		`"contact_id":"0192a000-0000-7000-8000-000000000001",`+
		`"created_at":"2026-01-15T09:30:00Z","trial_ends_at":"2026-01-29T09:30:00Z",`+
		`"position":"fe6d5fffffff8fff7ffffffffffffffdi","day":"2026-01-14","secret":"whsec_EXAMPLE",`+
		`"key":"segment","customer":"cus_EXAMPLE","download_url":"https://api.example.com/api/v1/files/EXAMPLE"}`,
		string(response)); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}
