package branding

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// MailRecords has what was found of a domain's records for mail.
type MailRecords struct{ SPF, DKIM, DMARC string }

// Findings of a record.
const (
	recordPass    = "pass"
	recordMissing = "missing"
	recordInvalid = "invalid" // several where one is allowed
	recordUnknown = "unknown" // the look-up failed
)

// selectors has the names under which common mail services keep DKIM keys. Others cannot be found by DNS.
var selectors = []string{"default", "google", "selector1", "selector2", "k1", "s1", "mail", "dkim", "funnelwork"}

// CheckMail looks up the records of a domain that mail comes from, in the first view. A finding of dkim is "missing"
// only for common selectors.
func (s *Domains) CheckMail(ctx context.Context, domain string) MailRecords {
	if len(s.Views) == 0 {
		return MailRecords{recordUnknown, recordUnknown, recordUnknown}
	}

	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	r := MailRecords{
		SPF: s.textRecord(ctx, domain, "v=spf1"), DMARC: s.textRecord(ctx, "_dmarc."+domain, "v=dmarc1"),
		DKIM: recordMissing,
	}
	for _, selector := range selectors {
		switch s.textRecord(ctx, selector+"._domainkey."+domain, "") {
		case recordPass, recordInvalid:
			r.DKIM = recordPass
			return r
		case recordUnknown:
			r.DKIM = recordUnknown
			return r
		}
	}

	return r
}

// textRecord looks for a TXT record that begins with a version; "": for a DKIM key.
func (s *Domains) textRecord(ctx context.Context, name, version string) string {
	texts, err := s.Texts(ctx, name)
	if err != nil {
		return recordUnknown
	}

	n := 0
	for _, text := range texts {
		text = strings.ToLower(strings.TrimSpace(text))
		if version != "" && (text == version || strings.HasPrefix(text, version+" ") ||
			strings.HasPrefix(text, version+";")) || version == "" && strings.Contains(text, "p=") {
			n++
		}
	}

	switch n {
	case 0:
		return recordMissing
	case 1:
		return recordPass
	default:
		return recordInvalid
	}
}

var errNoView = errors.New("there is no resolver")

// Texts returns the TXT records at a name, as the first view sees them. An error means that the query failed and says
// nothing about the name.
func (s *Domains) Texts(ctx context.Context, name string) (texts []string, err error) {
	if len(s.Views) == 0 {
		return nil, errNoView
	}

	found, err := followAliases(ctx, s.Views[0], name, dnsmessage.TypeTXT, nil)
	if err != nil {
		return nil, err
	}

	for _, r := range found.records {
		if txt, ok := r.Body.(*dnsmessage.TXTResource); ok {
			texts = append(texts, strings.Join(txt.TXT, ""))
		}
	}

	return texts, nil
}
