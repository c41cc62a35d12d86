package emails

import (
	"context"
	"crypto/subtle"
	"encoding/base32"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// An email whose answers come to the domain of the installation's own listener has an address for them alone: its org,
// its id and a MAC. In base32, which servers may write in either case, that is as long as a local part may be.

const (
	addressBytes = 16 + 16 + 8
	addressOf    = "email.address"
)

func base32Text() *base32.Encoding {
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
}

// localPart returns the local part of the address of an email.
func localPart(key orgkey.Key, org, email id.ID) string {
	b := append(append(make([]byte, 0, addressBytes), org[:]...), email[:]...)
	return base32Text().EncodeToString(append(b, key.Hash(addressOf, email.String())[:8]...))
}

// Addressed returns the org and the email that the local part of an address names, for which ByAddress vouches.
func Addressed(part string) (org, email id.ID, ok bool) {
	b, err := base32Text().DecodeString(strings.ToLower(part))
	if err != nil || len(b) != addressBytes {
		return org, email, false
	}
	copy(org[:], b)
	copy(email[:], b[16:])
	return org, email, true
}

// ByAddress returns the email of the org of tx to which the local part of an address belongs; nil: none.
func ByAddress(ctx context.Context, tx *postgres.Tx, box *secret.Sealer, part string) (*Row, error) {
	org, email, ok := Addressed(part)
	if !ok || org != tx.Org() {
		return nil, nil //nolint:nilnil // no email
	}
	pair, err := orgkey.Find(ctx, tx, box)
	if err != nil {
		return nil, err
	}

	if pair.Org.IsZero() || subtle.ConstantTimeCompare([]byte(localPart(pair.Org, org, email)),
		[]byte(strings.ToLower(part))) != 1 {
		return nil, nil //nolint:nilnil // no email
	}

	full, err := Get(ctx, tx, email)
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // no email
	}
	if err != nil {
		return nil, err
	}

	return &full.Row, nil
}

// setReplyAddress gives the email its own address for answers, if those of its mailbox go to the domain of the
// listener. Its bounces come there, too, if the mail is from the same registrable domain: otherwise DMARC would miss
// the sender's.
func (s *Service) setReplyAddress(org id.ID, e *Email, c *content, key orgkey.Key) {
	_, domain, _ := strings.Cut(c.replyTo, "@")
	if s.InboundDomain == "" || !strings.EqualFold(domain, s.InboundDomain) {
		return
	}
	c.replyTo = localPart(key, org, e.ID) + "@" + strings.ToLower(s.InboundDomain)
	_, from, _ := strings.Cut(c.fromEmail, "@")
	if own := registrableDomain(from); own != "" && own == registrableDomain(s.InboundDomain) {
		c.bounceTo = c.replyTo
	}
}

// registrableDomain returns the registrable domain of a domain, or "".
func registrableDomain(domain string) string {
	out, err := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(domain))
	if err != nil {
		return ""
	}
	return out
}
