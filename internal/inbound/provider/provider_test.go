package provider_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/inbound/provider"
)

const (
	arn     = "arn:aws:sns:eu-west-1:123456789012:ses-events"
	certURL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"
	secret  = "key-0123456789abcdef"
)

// sns signs messages as SNS does.
type sns struct {
	testing.TB
	key     *rsa.PrivateKey
	pem     []byte
	fetched []string
}

func newSNS(t *testing.T, until time.Time) *sns {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
	}, &x509.Certificate{SerialNumber: big.NewInt(1)}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &sns{TB: t, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (s *sns) fetch(_ context.Context, url string) ([]byte, error) {
	s.fetched = append(s.fetched, url)
	if strings.HasSuffix(url, ".pem") {
		return s.pem, nil
	}
	return []byte("<ConfirmSubscriptionResponse/>"), nil
}

// sign returns a message with its signature. The fields are those of SNS.
func (s *sns) sign(version string, m map[string]string) []byte {
	s.Helper()
	defaults := map[string]string{
		"Type": "Notification", "MessageId": "m1", "TopicArn": arn, "SigningCertURL": certURL,
		"Timestamp": time.Now().UTC().Format(time.RFC3339), "SignatureVersion": version,
	}
	for name, value := range defaults {
		if _, ok := m[name]; !ok {
			m[name] = value
		}
	}
	var text strings.Builder
	for _, name := range []string{
		"Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type",
	} {
		if value, ok := m[name]; ok {
			text.WriteString(name + "\n" + value + "\n")
		}
	}
	hash, sum := crypto.SHA1, []byte(nil)
	if version == "1" {
		digest := sha1.Sum([]byte(text.String()))
		sum = digest[:]
	} else {
		digest := sha256.Sum256([]byte(text.String()))
		hash, sum = crypto.SHA256, digest[:]
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, hash, sum)
	if err != nil {
		s.Fatal(err)
	}
	m["Signature"] = base64.StdEncoding.EncodeToString(signature)
	body, err := json.Marshal(m)
	if err != nil {
		s.Fatal(err)
	}
	return body
}

const sesBounce = `{"notificationType":"Bounce","mail":{"timestamp":"2026-11-01T10:00:00Z","messageId":"0100018f-ses",
	"headers":[{"name":"From","value":"a@shop.example"},{"name":"Message-ID","value":"<one@shop.example>"}]},
	"bounce":{"bounceType":"Permanent","bounceSubType":"General","timestamp":"2026-11-01T10:00:01Z",
	"bouncedRecipients":[{"emailAddress":"ada@example.com","status":"5.1.1",
	"diagnosticCode":"smtp; 550 5.1.1 user unknown"},
	{"emailAddress":"bob@example.com","status":"4.2.2"}]}}`

// moment is when the events of the tests happened.
func moment() time.Time { return time.Date(2026, 11, 1, 10, 0, 1, 0, time.UTC) }

func TestSESNotificationsHaveAnEventPerRecipient(t *testing.T) {
	t.Parallel()
	s := newSNS(t, time.Now().Add(time.Hour))
	r := provider.NewReader(s.fetch)
	for name, c := range map[string]struct {
		message string
		want    []provider.Event
	}{
		"bounce": {sesBounce, []provider.Event{
			{
				ID: "m1/ada@example.com", Kind: provider.Bounced, MessageID: "one@shop.example",
				Reference: "0100018f-ses", Recipient: "ada@example.com", Permanent: true, Code: "5.1.1",
				Diagnostic: "smtp; 550 5.1.1 user unknown", At: moment(),
			},
			{
				ID: "m1/bob@example.com", Kind: provider.Bounced, MessageID: "one@shop.example",
				Reference: "0100018f-ses", Recipient: "bob@example.com", Permanent: true, Code: "4.2.2",
				At: moment(),
			},
		}},
		"complaint of a configuration set": {
			`{"eventType":"Complaint","mail":{"messageId":"x","commonHeaders":{"messageId":"<two@shop.example>"}},
			"complaint":{"complaintFeedbackType":"abuse","timestamp":"2026-11-01T10:00:01Z",
			"complainedRecipients":[{"emailAddress":"ada@example.com"}]}}`, []provider.Event{{
				ID: "m1/ada@example.com", Kind: provider.Complained, MessageID: "two@shop.example", Reference: "x",
				Recipient: "ada@example.com", At: moment(),
			}},
		},
		"delivery": {
			`{"notificationType":"Delivery","mail":{"messageId":"x"},"delivery":{"timestamp":"2026-11-01T10:00:01Z",
			"recipients":["ada@example.com"],"smtpResponse":"250 ok"}}`, []provider.Event{{
				ID: "m1/ada@example.com", Kind: provider.Delivered, Reference: "x", Recipient: "ada@example.com",
				At: moment(),
			}},
		},
		"a mail that is no spam": {`{"notificationType":"Complaint","mail":{"messageId":"x"},"complaint":{
			"complaintFeedbackType":"not-spam","complainedRecipients":[{"emailAddress":"ada@example.com"}]}}`, nil},
		"open":                {`{"eventType":"Open","mail":{"messageId":"x"},"open":{}}`, nil},
		"a test of the topic": {"Successfully validated SNS topic for Amazon SES event publishing.", nil},
	} {
		for _, version := range []string{"1", "2"} {
			m := map[string]string{"Message": c.message}
			if version == "2" {
				m["Subject"] = "Amazon SES Email Event Notification"
			}
			got, err := r.Read(t.Context(), &provider.Request{
				Provider: provider.SES, Key: arn, Body: s.sign(version, m), At: time.Now(),
			})
			if err != nil {
				t.Errorf("%s, version %s: %v", name, version, err)
			}
			if diff := cmp.Diff(c.want, got.Events); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
	if len(s.fetched) != 1 {
		t.Errorf("the certificate was fetched %d times", len(s.fetched))
	}
}

func TestASubscriptionIsConfirmedForTheTopicOfTheMailboxAlone(t *testing.T) {
	t.Parallel()
	s := newSNS(t, time.Now().Add(time.Hour))
	r := provider.NewReader(s.fetch)
	const confirm = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc"
	message := func(topic, url string) *provider.Request {
		return &provider.Request{Provider: provider.SES, Key: arn, At: time.Now(), Body: s.sign("2", map[string]string{
			"Type": "SubscriptionConfirmation", "Message": "You have chosen", "Token": "abc", "TopicArn": topic,
			"SubscribeURL": url,
		})}
	}
	if b, err := r.Read(t.Context(), message(arn, confirm)); err != nil || len(b.Events) > 0 {
		t.Errorf("%v, %v", b, err)
	}
	if want := []string{certURL, confirm}; !slices.Equal(s.fetched, want) {
		t.Errorf("fetched %q, want %q", s.fetched, want)
	}
	for _, q := range []*provider.Request{
		message("arn:aws:sns:eu-west-1:123456789012:another", confirm),
		message(arn, "https://sns.eu-west-1.amazonaws.com.evil.example/?Action=ConfirmSubscription"),
		message(arn, "http://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription"),
		message(arn, "https://user@sns.eu-west-1.amazonaws.com/"),
		message(arn, "https://sns.eu-west-1.amazonaws.com:8443/"),
	} {
		if _, err := r.Read(t.Context(), q); !errors.Is(err, provider.ErrNotGenuine) {
			t.Errorf("%s: %v", q.Body, err)
		}
	}
	if len(s.fetched) != 2 {
		t.Errorf("fetched %q", s.fetched[2:])
	}
}

func TestWhatSNSHasNotSignedIsRefusedAndItsCertificateIsNotFetched(t *testing.T) {
	t.Parallel()
	s := newSNS(t, time.Now().Add(time.Hour))
	r := provider.NewReader(s.fetch)
	read := func(body []byte, after time.Duration) error {
		_, err := r.Read(t.Context(), &provider.Request{
			Provider: provider.SES, Key: arn, Body: body, At: time.Now().Add(after),
		})
		return err
	}
	for _, url := range []string{
		"https://evil.example/sns.pem", "http://sns.eu-west-1.amazonaws.com/a.pem",
		"https://sns.eu-west-1.amazonaws.com.evil.example/a.pem", "https://amazonaws.com/a.pem",
		"https://s3.eu-west-1.amazonaws.com/bucket/a.pem", "https://evil.example/?sns.eu-west-1.amazonaws.com",
		"https://sns.eu-west-1.amazonaws.com@evil.example/a.pem", "",
	} {
		body := s.sign("2", map[string]string{"Message": sesBounce, "SigningCertURL": url})
		if err := read(body, 0); !errors.Is(err, provider.ErrNotGenuine) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if len(s.fetched) > 0 {
		t.Fatalf("fetched %q", s.fetched)
	}
	genuine := s.sign("2", map[string]string{"Message": sesBounce})
	if err := read(genuine, 0); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{
		"another recipient":   []byte(strings.Replace(string(genuine), "ada@", "eve@", 1)),
		"another topic":       []byte(strings.Replace(string(genuine), "ses-events", "ses-other", 1)),
		"another id":          []byte(strings.Replace(string(genuine), `"m1"`, `"m2"`, 1)),
		"an unknown version":  []byte(strings.Replace(string(genuine), `Version":"2"`, `Version":"3"`, 1)),
		"no signature":        s.sign("2", map[string]string{"Message": sesBounce})[:0],
		"a month ago":         s.sign("2", map[string]string{"Message": "m", "Timestamp": "2020-01-01T00:00:00Z"}),
		"another certificate": newSNS(t, time.Now().Add(time.Hour)).sign("2", map[string]string{"Message": sesBounce}),
	} {
		err := read(body, 0)
		if !errors.Is(err, provider.ErrNotGenuine) &&
			(name != "no signature" || !errors.Is(err, provider.ErrMalformed)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := read(genuine, 2*time.Hour); !errors.Is(err, provider.ErrNotGenuine) {
		t.Errorf("a certificate that has expired: %v", err)
	}
}

func TestMailgunSignsATimestampAndAToken(t *testing.T) {
	t.Parallel()
	now := time.Now()
	body := func(key string, signed time.Time, event string) []byte {
		stamp := strconv.FormatInt(signed.Unix(), 10)
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(stamp + "token-1"))
		return fmt.Appendf(nil, `{"signature":{"timestamp":%q,"token":"token-1","signature":%q},"event-data":%s}`,
			stamp, hex.EncodeToString(mac.Sum(nil)), event)
	}
	const rest = `"recipient":"ada@example.com","timestamp":1793000000.5,
		"message":{"headers":{"message-id":"one@shop.example"}}`
	event := provider.Event{
		ID: "e1", MessageID: "one@shop.example", Recipient: "ada@example.com",
		At: time.Unix(1793000000, 500000000),
	}
	with := func(change func(*provider.Event)) []provider.Event {
		e := event
		change(&e)
		return []provider.Event{e}
	}
	read := func(body []byte) (provider.Batch, error) {
		return provider.NewReader(nil).Read(t.Context(), &provider.Request{
			Provider: provider.Mailgun, Key: secret, Body: body, At: now,
		})
	}
	for name, c := range map[string]struct {
		event string
		want  []provider.Event
	}{
		"delivered": {
			`{"id":"e1","event":"delivered",` + rest + `}`,
			with(func(e *provider.Event) { e.Kind = provider.Delivered }),
		},
		"complained": {
			`{"id":"e1","event":"complained",` + rest + `}`,
			with(func(e *provider.Event) { e.Kind = provider.Complained }),
		},
		"unsubscribed": {
			`{"id":"e1","event":"unsubscribed",` + rest + `}`,
			with(func(e *provider.Event) { e.Kind = provider.Unsubscribed }),
		},
		"failed for good": {
			`{"id":"e1","event":"failed","severity":"permanent","reason":"bounce","delivery-status":{"code":550,
			"enhanced-code":"5.1.1","message":"5.1.1 user unknown"},` + rest + `}`,
			with(func(e *provider.Event) {
				e.Kind, e.Permanent, e.Code, e.Diagnostic = provider.Bounced, true, "5.1.1", "5.1.1 user unknown"
			}),
		},
		"failed for now": {`{"id":"e1","event":"failed","severity":"temporary",` + rest + `}`, nil},
		"opened":         {`{"id":"e1","event":"opened",` + rest + `}`, nil},
	} {
		got, err := read(body(secret, now.Add(-8*time.Hour), c.event))
		if err != nil || got.Once != "token-1" {
			t.Errorf("%s: %v, once %q", name, err, got.Once)
		}
		if diff := cmp.Diff(c.want, got.Events); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	genuine := `{"id":"e1","event":"delivered",` + rest + `}`
	for name, b := range map[string][]byte{
		"another key":   body("another-key-0123456", now, genuine),
		"two days old":  body(secret, now.Add(-48*time.Hour), genuine),
		"of tomorrow":   body(secret, now.Add(24*time.Hour), genuine),
		"another token": []byte(strings.Replace(string(body(secret, now, genuine)), "token-1", "token-2", 1)),
		"no signature":  []byte(`{"event-data":` + genuine + `}`),
	} {
		if _, err := read(b); !errors.Is(err, provider.ErrNotGenuine) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := read([]byte("event=delivered")); !errors.Is(err, provider.ErrMalformed) {
		t.Errorf("a form: %v", err)
	}
}

func TestSendGridSignsTheTimestampAndTheBody(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public, now := base64.StdEncoding.EncodeToString(der), time.Now()
	if !provider.CheckKey(provider.SendGrid, public) {
		t.Error("the key is refused")
	}
	signed := func(at time.Time, body string) *provider.Request {
		stamp := strconv.FormatInt(at.Unix(), 10)
		sum := sha256.Sum256([]byte(stamp + body))
		signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		h.Set(provider.TimestampHeader, stamp)
		h.Set(provider.SignatureHeader, base64.StdEncoding.EncodeToString(signature))
		return &provider.Request{Provider: provider.SendGrid, Key: public, Header: h, Body: []byte(body), At: now}
	}
	record := func(id, event, more string) string {
		return `{"email":"ada@example.com","timestamp":1793000000,"smtp-id":"<one@shop.example>","event":"` + event +
			`","sg_event_id":"` + id + `","sg_message_id":"14c5d75ce93.dfd.64b469.filter0001.0"` + more + `}`
	}
	body := "[" + strings.Join([]string{
		record("e0", "processed", ""), record("e1", "delivered", ""), record("e2", "open", ""),
		record("e3", "bounce", `,"type":"bounce","status":"5.1.1","reason":"550 5.1.1 no such user"`),
		record("e4", "bounce", `,"type":"blocked","status":"5.7.1","reason":"spam"`),
		record("e5", "spamreport", ""), record("e6", "group_unsubscribe", ""),
		record("e7", "dropped", `,"reason":"Bounced Address"`), record("e8", "deferred", ""),
	}, ",") + "]"
	got, err := provider.NewReader(nil).Read(t.Context(), signed(now, body))
	if err != nil {
		t.Fatal(err)
	}
	event := func(id, kind string, permanent bool, code, diagnostic string) provider.Event {
		return provider.Event{
			ID: id, Kind: kind, MessageID: "one@shop.example", Reference: "14c5d75ce93", Recipient: "ada@example.com",
			Permanent: permanent, Code: code, Diagnostic: diagnostic, At: time.Unix(1793000000, 0),
		}
	}
	if diff := cmp.Diff([]provider.Event{
		event("e1", provider.Delivered, false, "", ""),
		event("e3", provider.Bounced, true, "5.1.1", "550 5.1.1 no such user"),
		event("e4", provider.Bounced, false, "5.7.1", "spam"),
		event("e5", provider.Complained, false, "", ""), event("e6", provider.Unsubscribed, false, "", ""),
		event("e7", provider.Bounced, true, "", "Bounced Address"),
	}, got.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	altered, unsigned := signed(now, body), signed(now, body)
	altered.Body = []byte(strings.Replace(body, "e1", "e9", 1))
	unsigned.Header = http.Header{}
	for name, q := range map[string]*provider.Request{
		"another body": altered, "no signature": unsigned, "two days old": signed(now.Add(-48*time.Hour), body),
	} {
		if _, err := provider.NewReader(nil).Read(t.Context(), q); !errors.Is(err, provider.ErrNotGenuine) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPostmarkIsKnownByItsPassword(t *testing.T) {
	t.Parallel()
	read := func(password, body string) (provider.Batch, error) {
		h := http.Header{}
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("any:"+password)))
		return provider.NewReader(nil).Read(t.Context(), &provider.Request{
			Provider: provider.Postmark, Key: secret, Header: h, Body: []byte(body), At: time.Now(),
		})
	}
	const id = "883953f4-6105-42a2-a16a-77a8eac79483"
	for body, want := range map[string]*provider.Event{
		`{"RecordType":"Delivery","MessageID":"` + id + `","Recipient":"ada@example.com",
			"DeliveredAt":"2026-11-01T10:00:01Z","Details":"250 ok"}`: {
			ID: "Delivery/" + id + "/ada@example.com", Kind: provider.Delivered, Reference: id,
			Recipient: "ada@example.com", At: moment(),
		},
		`{"RecordType":"Bounce","ID":42,"Type":"HardBounce","TypeCode":1,"MessageID":"` + id + `",
			"Email":"ada@example.com","BouncedAt":"2026-11-01T10:00:01Z","Details":"smtp;550 5.1.1 unknown"}`: {
			ID: "Bounce/42", Kind: provider.Bounced, Reference: id, Recipient: "ada@example.com", Permanent: true,
			Diagnostic: "smtp;550 5.1.1 unknown", At: moment(),
		},
		`{"RecordType":"Bounce","ID":43,"Type":"SoftBounce","MessageID":"` + id + `","Email":"ada@example.com",
			"BouncedAt":"2026-11-01T10:00:01Z","Details":"full"}`: {
			ID: "Bounce/43", Kind: provider.Bounced, Reference: id, Recipient: "ada@example.com", Diagnostic: "full",
			At: moment(),
		},
		`{"RecordType":"SpamComplaint","ID":44,"Type":"SpamComplaint","MessageID":"` + id + `",
			"Email":"ada@example.com","BouncedAt":"2026-11-01T10:00:01Z"}`: {
			ID: "SpamComplaint/44", Kind: provider.Complained, Reference: id, Recipient: "ada@example.com",
			At: moment(),
		},
		`{"RecordType":"SubscriptionChange","MessageID":"` + id + `","Recipient":"ada@example.com",
			"SuppressSending":true,"SuppressionReason":"ManualSuppression","ChangedAt":"2026-11-01T10:00:01Z"}`: {
			ID: "SubscriptionChange/" + id + "/ada@example.com", Kind: provider.Unsubscribed, Reference: id,
			Recipient: "ada@example.com", At: moment(),
		},
		`{"RecordType":"Bounce","ID":45,"Type":"AutoResponder","Email":"ada@example.com"}`: nil,
		`{"RecordType":"Open","MessageID":"` + id + `"}`:                                   nil,
	} {
		got, err := read(secret, body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		var all []provider.Event
		if want != nil {
			all = []provider.Event{*want}
		}
		if diff := cmp.Diff(all, got.Events); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
		if _, err := read("wrong", body); !errors.Is(err, provider.ErrNotGenuine) {
			t.Errorf("another password: %v", err)
		}
	}
	if _, err := read(secret, "{"); !errors.Is(err, provider.ErrMalformed) {
		t.Errorf("half an object: %v", err)
	}
}

func TestAKeyFitsItsProvider(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, key string
		want          bool
	}{
		{provider.SES, arn, true},
		{provider.SES, "arn:aws-cn:sns:cn-north-1:123456789012:a", true},
		{provider.SES, "arn:aws:sqs:eu-west-1:123456789012:a", false},
		{provider.Mailgun, secret, true},
		{provider.Mailgun, "short", false},
		{provider.Postmark, secret, true},
		{provider.Postmark, "", false},
		{provider.SendGrid, secret, false},
		{"another", secret, false},
	} {
		if got := provider.CheckKey(c.provider, c.key); got != c.want {
			t.Errorf("%s %q: %v", c.provider, c.key, got)
		}
	}
}
