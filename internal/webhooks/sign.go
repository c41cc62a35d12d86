package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The header names of a delivery.
const (
	SignatureHeader = "X-Service-Signature"
	IDHeader        = "Webhook-Id"
	TimeHeader      = "Webhook-Timestamp"
	StandardHeader  = "Webhook-Signature"
	TraceHeader     = "Traceparent" // sent if the attempt is traced; not signed
)

// Headers returns the headers of one attempt: the identification, and both signatures of body with each secret, newest
// first.
//
// X-Service-Signature is the lower-case hex of HMAC-SHA-256 over the body alone, keyed with the bytes of the secret as
// shown; several signatures are separated by commas. The three Standard Webhooks headers sign id, time and body, which
// protects against replays; several signatures are separated by spaces.
func Headers(secrets []string, webhookID string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	ours, standard := make([]string, 0, len(secrets)), make([]string, 0, len(secrets))
	for _, s := range secrets {
		ours = append(ours, hex.EncodeToString(computeMAC([]byte(s), body)))
		standard = append(standard,
			"v1,"+base64.StdEncoding.EncodeToString(computeMAC(standardKey(s), []byte(webhookID+"."+stamp+"."), body)))
	}
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "Funnelwork-Webhooks/1")
	h.Set(SignatureHeader, strings.Join(ours, ","))
	h.Set(IDHeader, webhookID)
	h.Set(TimeHeader, stamp)
	h.Set(StandardHeader, strings.Join(standard, " "))
	return h
}

// Verify reports whether the X-Service-Signature and the Standard Webhooks signature of a delivery are valid for
// secret. The caller must check the age of the timestamp.
func Verify(secret string, h http.Header, body []byte) (ours, standard bool) {
	want := hex.EncodeToString(computeMAC([]byte(secret), body))
	for s := range strings.SplitSeq(h.Get(SignatureHeader), ",") {
		ours = ours || hmac.Equal([]byte(strings.TrimSpace(s)), []byte(want))
	}
	signed := h.Get(IDHeader) + "." + h.Get(TimeHeader) + "."
	want = "v1," + base64.StdEncoding.EncodeToString(computeMAC(standardKey(secret), []byte(signed), body))
	for s := range strings.SplitSeq(h.Get(StandardHeader), " ") {
		standard = standard || hmac.Equal([]byte(s), []byte(want))
	}
	return ours, standard
}

func computeMAC(key []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}
