package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/funnelwork/funnelwork/internal/webhooks"
)

var secrets = []string{
	"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD7GdCO9vx6yM=",
	"correct horse battery staple",
	"pässwörd mit Ümläuten",
}

// receiver checks X-Service-Signature as a subscriber would: in three lines, without our code.
func receiver(secret string, body []byte, header string) bool {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(body)
	return strings.Contains(","+header+",", ","+hex.EncodeToString(m.Sum(nil))+",")
}

// library returns the reference library with the secret as shown.
func library(t *testing.T, secret string) *standardwebhooks.Webhook {
	t.Helper()
	w, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if strings.HasPrefix(secret, "whsec_") {
		w, err = standardwebhooks.NewWebhook(secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTheSignatureIsTheOneOfTheStandardsOwnVector(t *testing.T) {
	t.Parallel()
	// From the specification's reference libraries.
	h := webhooks.Headers([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got, want := h.Get("webhook-signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
		"Content-Type": "application/json", "User-Agent": "Funnelwork-Webhooks/1",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestEveryBodyVerifiesInTheReferenceLibraryAndByPlainHMAC(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 10_000 {
		body := make([]byte, random.IntN(2000))
		for i := range body {
			body[i] = byte(random.UintN(256))
		}
		secret := secrets[n%len(secrets)]
		h := webhooks.Headers([]string{secret}, "id-"+strconv.Itoa(n), time.Now(), body)
		if err := library(t, secret).Verify(body, h); err != nil {
			t.Fatalf("body %d with %q: %v", n, secret, err)
		}
		if !receiver(secret, body, h.Get("X-Service-Signature")) {
			t.Fatalf("body %d with %q: plain HMAC differs: %s", n, secret, h.Get("X-Service-Signature"))
		}
	}
}

func TestAnAlteredBodyIDOrTimeIsRefused(t *testing.T) {
	t.Parallel()
	body := []byte(`{"id":"1"}`)
	for _, secret := range secrets {
		for name, alter := range map[string]func(h map[string][]string) []byte{
			"body": func(map[string][]string) []byte { return []byte(`{"id":"2"}`) },
			"id": func(h map[string][]string) []byte {
				h["Webhook-Id"] = []string{"other"}
				return body
			},
			"time": func(h map[string][]string) []byte {
				h["Webhook-Timestamp"] = []string{strconv.FormatInt(time.Now().Unix()+1, 10)}
				return body
			},
		} {
			h := webhooks.Headers([]string{secret}, "one", time.Unix(time.Now().Unix(), 0), body)
			if ours, standard := webhooks.Verify(secret, h, body); !ours || !standard {
				t.Fatalf("%q: an unaltered one is refused: %v, %v", secret, ours, standard)
			}
			sent := alter(h)
			if library(t, secret).Verify(sent, h) == nil {
				t.Errorf("%q: altered %s passes the library", secret, name)
			}
			if ours, standard := webhooks.Verify(secret, h, sent); standard || (name == "body") == ours {
				t.Errorf("%q: altered %s: ours %v, standard %v", secret, name, ours, standard)
			}
			if receiver(secret, sent, h.Get("X-Service-Signature")) != (name != "body") {
				t.Errorf("%q: altered %s and plain HMAC", secret, name)
			}
		}
	}
}

func TestTwoSecretsBothVerifyNewestFirst(t *testing.T) {
	t.Parallel()
	body := []byte(`{}`)
	h := webhooks.Headers(secrets[:2], "one", time.Now(), body)
	for _, s := range secrets[:2] {
		if err := library(t, s).Verify(body, h); err != nil || !receiver(s, body, h.Get("X-Service-Signature")) {
			t.Errorf("%q: %v", s, err)
		}
	}
	alone := webhooks.Headers(secrets[:1], "one", time.Now(), body)
	if !strings.HasPrefix(h.Get("X-Service-Signature"), alone.Get("X-Service-Signature")+",") {
		t.Errorf("order: %s", h.Get("X-Service-Signature"))
	}
	if library(t, secrets[2]).Verify(body, h) == nil || receiver(secrets[2], body, h.Get("X-Service-Signature")) {
		t.Error("a stranger's secret verifies")
	}
}
