package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

const providerKey = "key-0123456789abcdef"

// provide sets the provider of the mailbox.
func (c *correspondence) provide(name string) {
	c.Helper()
	c.do(http.MethodPut, boxesPath+"/"+c.mailbox+"/provider", `{"provider":"`+name+`","key":"`+providerKey+`"}`).
		want(c, 200, "")
}

// tell posts events as a provider does.
func (c *correspondence) tell(name, body string, header ...string) answer {
	c.Helper()
	return c.do(http.MethodPost, "/inbound/events/"+name+"/"+c.token, body,
		append([]string{"Content-Type", "application/json", "Authorization", ""}, header...)...)
}

// mailgun returns a request of Mailgun about the email.
func (c *correspondence) mailgun(token, event, more string) string {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(providerKey))
	mac.Write([]byte(stamp + token))
	return fmt.Sprintf(`{"signature":{"timestamp":%q,"token":%q,"signature":%q},"event-data":{"id":"id-%s","event":%q,
		"recipient":"ada@example.com","timestamp":%s.5,"message":{"headers":{"message-id":%q}}%s}}`, stamp, token,
		hex.EncodeToString(mac.Sum(nil)), token, event, stamp, c.sent.MessageID, more)
}

func basic(password string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("any:"+password))}
}

func TestWhatAProviderTellsHasTheEffectsOfAReportByMail(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	const failed = `,"severity":"permanent","delivery-status":{"code":%d,"enhanced-code":%q,"message":%q}`
	for name, c := range map[string]struct{ event, more, facts string }{
		"a delivery": {"delivered", "", "delivered email.delivered"},
		"an unknown address": {
			"failed", fmt.Sprintf(failed, 550, "5.1.1", "no such user"), "hard all/hard_bounce email.bounced",
		},
		"a full mailbox":            {"failed", fmt.Sprintf(failed, 552, "5.2.2", "full"), "soft email.bounced"},
		"spam":                      {"failed", fmt.Sprintf(failed, 550, "5.7.1", "spam"), "soft email.bounced"},
		"a try that failed for now": {"failed", `,"severity":"temporary"`, ""},
		"a complaint":               {"complained", "", "complained all/complaint email.complained"},
		"an unsubscription":         {"unsubscribed", "", "marketing/unsubscribe contact.unsubscribed"},
		"an open":                   {"opened", "", ""},
	} {
		m := correspond(s)
		m.provide("mailgun")
		body := m.mailgun("t1", c.event, c.more)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if got := m.tell("mailgun", body); got.Status != http.StatusOK {
					t.Errorf("%s: %d %s", name, got.Status, got.Body)
				}
			})
		}
		all.Wait()
		m.tell("mailgun", m.mailgun("t2", c.event, c.more)).want(m, 200, "") // the same by another event
		if got := m.facts(); got != c.facts {
			t.Errorf("%s: facts %q, want %q", name, got, c.facts)
		}
	}
}

func TestAProviderThatReplacesTheMessageIDIsMatchedByItsReply(t *testing.T) {
	t.Parallel()
	m := correspond(start(t, unlimited))
	m.provide("postmark")
	const id = "883953f4-6105-42a2-a16a-77a8eac79483"
	m.exec(`UPDATE email SET server_id = $2 WHERE id = $1`, m.sent.ID, id)
	delivery := func(id, to string) string {
		return `{"RecordType":"Delivery","MessageID":"` + id + `","Recipient":"` + to + `",
			"DeliveredAt":"2026-11-01T10:00:01Z"}`
	}
	for _, other := range []string{delivery("another", "ada@example.com"), delivery(id, "eve@example.com")} {
		m.tell("postmark", other, basic(providerKey)...).want(m, 200, "")
		if got := m.facts(); got != "" {
			t.Fatalf("%s has effects: %s", other, got)
		}
	}
	m.tell("postmark", delivery(id, "Ada@example.com"), basic(providerKey)...).want(m, 200, "")
	if got := m.facts(); got != "delivered email.delivered" {
		t.Errorf("facts %q", got)
	}
	var shown struct {
		Provider string
		Path     string  `json:"events_path"`
		Last     *string `json:"last_event_at"`
	}
	m.do(http.MethodGet, boxesPath+"/"+m.mailbox+"/provider", nil).want(t, 200, "").into(t, &shown)
	if shown.Provider != "postmark" || shown.Path != "/inbound/events/postmark/" || shown.Last == nil {
		t.Errorf("%+v", shown)
	}
}

func TestALongReferenceOfAProviderIsComparedWhole(t *testing.T) {
	t.Parallel()
	m := correspond(start(t, unlimited))
	m.provide("postmark")
	id := strings.Repeat("a", 899)
	m.exec(`UPDATE email SET server_id = $2 WHERE id = $1`, m.sent.ID, id+"1")
	for _, c := range []struct{ reference, facts string }{
		{id + "2", ""}, {id + "12", ""}, {id + "1", "delivered email.delivered"},
	} {
		m.tell("postmark", `{"RecordType":"Delivery","MessageID":"`+c.reference+`","Recipient":"ada@example.com",
			"DeliveredAt":"2026-11-01T10:00:01Z"}`, basic(providerKey)...).want(m, 200, "")
		if got := m.facts(); got != c.facts {
			t.Errorf("a reference of %d bytes that ends in %s: facts %q", len(c.reference), c.reference[898:], got)
		}
	}
}

func TestWhatAProviderHasNotSignedIsRefused(t *testing.T) {
	t.Parallel()
	m := correspond(start(t, unlimited))
	m.tell("mailgun", m.mailgun("t1", "delivered", "")).want(t, 404, "not_found")
	m.provide("mailgun")
	genuine := m.mailgun("t1", "delivered", "")
	m.tell("mailgun", strings.ReplaceAll(genuine, `"token":"t1"`, `"token":"t2"`)).want(t, 403, "forbidden")
	m.tell("mailgun", `{"event-data":{}}`).want(t, 403, "forbidden")
	m.tell("mailgun", "event=delivered").want(t, 400, "malformed_request")
	m.tell("mailgun", genuine, "Content-Type", "text/plain").want(t, 200, "")
	m.tell("postmark", genuine, basic(providerKey)...).want(t, 404, "not_found")
	m.do(http.MethodPost, "/inbound/events/mailgun/x", genuine, "Authorization", "").want(t, 404, "not_found")
	// The HMAC does not cover the event: the token alone must not sign another.
	forged := strings.NewReplacer(`"delivered"`, `"complained"`, "id-t1", "id-t9").Replace(genuine)
	m.tell("mailgun", forged).want(t, 403, "forbidden")
	m.tell("mailgun", genuine).want(t, 200, "") // a repetition is none
	if got := m.facts(); got != "delivered email.delivered" {
		t.Errorf("facts %q", got)
	}
	m.do(http.MethodDelete, boxesPath+"/"+m.mailbox+"/provider", nil).want(t, 204, "")
	m.do(http.MethodDelete, boxesPath+"/"+m.mailbox+"/provider", nil).want(t, 204, "")
	m.tell("mailgun", genuine).want(t, 404, "not_found")
}

func TestTheKeyOfAProviderIsSealedAndChecked(t *testing.T) {
	t.Parallel()
	m := correspond(start(t, unlimited))
	path := boxesPath + "/" + m.mailbox + "/provider"
	m.do(http.MethodGet, path, nil).want(t, 404, "not_found")
	for _, bad := range []string{
		`{"provider":"ses","key":"` + providerKey + `"}`, `{"provider":"sendgrid","key":"` + providerKey + `"}`,
		`{"provider":"mailgun","key":"short"}`, `{"provider":"mailgun","key":""}`, `{"provider":"mailgun"}`,
		`{"provider":"x","key":"` + providerKey + `"}`,
	} {
		m.do(http.MethodPut, path, bad).want(t, 422, "validation_failed")
	}
	answer := m.do(http.MethodPut, path, `{"provider":"mailgun","key":"`+providerKey+`"}`).want(t, 200, "")
	if strings.Contains(string(answer.Body), providerKey) {
		t.Errorf("the key is shown: %s", answer.Body)
	}
	var sealed []byte
	if err := testkit.Pgx(t, m.DB.URL).QueryRow(t.Context(), `SELECT key FROM mailbox_provider WHERE id = $1`,
		m.mailbox).Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sealed), providerKey) {
		t.Error("the key is stored as it is")
	}
}
