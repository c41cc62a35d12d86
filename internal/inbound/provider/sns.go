package provider

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // signature version 1 of SNS, the default of a topic
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"
)

// topic matches the ARN of a topic.
var topic = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]{1,256}$`)

// snsHost matches the hosts of SNS, at which its certificates and the confirmations of subscriptions are.
var snsHost = regexp.MustCompile(`^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$`)

// Types of messages of SNS.
const (
	snsNotification = "Notification"
	snsSubscription = "SubscriptionConfirmation"
	snsUnsubscribed = "UnsubscribeConfirmation"
)

// snsMessage is the body of a request of SNS.
type snsMessage struct {
	Type             string
	MessageID        string `json:"MessageId"`
	TopicARN         string `json:"TopicArn"`
	Subject          *string
	Message          string
	Timestamp        string
	Token            string
	SubscribeURL     string
	SignatureVersion string
	Signature        string
	SigningCertURL   string
}

// text returns what SNS has signed.
func (m *snsMessage) text() []byte {
	var b bytes.Buffer
	add := func(name, value string) { b.WriteString(name + "\n" + value + "\n") }
	add("Message", m.Message)
	add("MessageId", m.MessageID)
	if m.Type == snsNotification {
		if m.Subject != nil {
			add("Subject", *m.Subject)
		}
	} else {
		add("SubscribeURL", m.SubscribeURL)
	}
	add("Timestamp", m.Timestamp)
	if m.Type != snsNotification {
		add("Token", m.Token)
	}
	add("TopicArn", m.TopicARN)
	add("Type", m.Type)
	return b.Bytes()
}

// certificate is a certificate of SNS.
type certificate struct {
	key         *rsa.PublicKey
	from, until time.Time
}

// readSES reads a message of SNS, and confirms a subscription to the topic.
func (r *Reader) readSES(ctx context.Context, q *Request) (Batch, error) {
	var m snsMessage
	if err := json.Unmarshal(q.Body, &m); err != nil {
		return Batch{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if m.TopicARN != q.Key {
		return Batch{}, ErrNotGenuine
	}
	signed, err := time.Parse(time.RFC3339, m.Timestamp)
	if err != nil || !isTimely(signed, q.At, oldestSNS) {
		return Batch{}, ErrNotGenuine
	}
	if err := r.verifySNS(ctx, &m, q.At); err != nil {
		return Batch{}, err
	}
	switch m.Type {
	case snsNotification:
		return Batch{Events: sesEvents(&m)}, nil
	case snsSubscription:
		if !isOfSNS(m.SubscribeURL) {
			return Batch{}, ErrNotGenuine
		}
		if _, err := r.fetch(ctx, m.SubscribeURL); err != nil {
			return Batch{}, fmt.Errorf("confirm subscription: %w", err)
		}
		return Batch{}, nil
	case snsUnsubscribed:
		return Batch{}, nil
	}
	return Batch{}, ErrMalformed
}

// verifySNS verifies the signature of a message.
func (r *Reader) verifySNS(ctx context.Context, m *snsMessage, at time.Time) error {
	signature, err := base64.StdEncoding.DecodeString(m.Signature)
	if err != nil {
		return ErrNotGenuine
	}
	c, err := r.certificate(ctx, m.SigningCertURL)
	if err != nil {
		return err
	}
	if at.Before(c.from) || at.After(c.until) {
		return ErrNotGenuine
	}
	hash, sum := crypto.SHA256, []byte(nil)
	switch m.SignatureVersion {
	case "1":
		digest := sha1.Sum(m.text()) //nolint:gosec // as above
		hash, sum = crypto.SHA1, digest[:]
	case "2":
		digest := sha256.Sum256(m.text())
		sum = digest[:]
	default:
		return ErrNotGenuine
	}
	if rsa.VerifyPKCS1v15(c.key, hash, sum, signature) != nil {
		return ErrNotGenuine
	}
	return nil
}

// isOfSNS reports whether an address is one of SNS.
func isOfSNS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.User == nil && snsHost.MatchString(u.Host)
}

var errCertificate = errors.New("no certificate of SNS is at the address")

// certificate returns the certificate at an address of SNS.
func (r *Reader) certificate(ctx context.Context, address string) (certificate, error) {
	if !isOfSNS(address) {
		return certificate{}, ErrNotGenuine
	}
	if c, ok := r.certificates.Get(address); ok {
		return c, nil
	}
	body, err := r.fetch(ctx, address)
	if err != nil {
		return certificate{}, fmt.Errorf("fetch certificate of SNS: %w", err)
	}
	block, _ := pem.Decode(body)
	if block == nil {
		return certificate{}, errCertificate
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return certificate{}, fmt.Errorf("read certificate of SNS: %w", err)
	}
	key, ok := parsed.PublicKey.(*rsa.PublicKey)
	if !ok {
		return certificate{}, errCertificate
	}
	c := certificate{key: key, from: parsed.NotBefore, until: parsed.NotAfter}
	r.certificates.Put(address, c)
	return c, nil
}
