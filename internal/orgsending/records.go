package orgsending

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/dkim"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// SendingDomain is a sending domain as the API shows it.
type SendingDomain struct {
	Domain     string          `json:"domain" doc:"Lower case, punycode"`
	Status     string          `json:"status" enum:"pending,verified,failed"`
	Records    []SendingRecord `json:"records" doc:"What to set at the domain's DNS provider"`
	VerifiedAt *wire.Time      `json:"verified_at" format:"date-time" doc:"When its key was first found, or null"`
	CheckedAt  *wire.Time      `json:"checked_at" format:"date-time" doc:"When its records were looked up, or null"`
	CreatedAt  wire.Time       `json:"created_at" format:"date-time" doc:"When it was added"`
}

// Descriptions implements wire.Describer.
func (SendingDomain) Descriptions() map[string]string {
	return map[string]string{
		"status": "pending: its key has not been found yet; verified: mail from it is signed; failed: the key was " +
			"found before, and is gone",
	}
}

// SendingRecord is a DNS record of a sending domain.
type SendingRecord struct {
	Type  string `json:"type" enum:"TXT,CNAME,A,AAAA" doc:"Type of the record"`
	Name  string `json:"name" doc:"Name of the record, fully qualified, without a trailing dot"`
	Value string `json:"value" doc:"Value of the record, without quotes"`
	Found bool   `json:"found"`
}

// Descriptions implements wire.Describer.
func (SendingRecord) Descriptions() map[string]string {
	return map[string]string{
		"found": "Whether the last look-up found the key, or for SPF and DMARC, one record of the kind with any rule",
	}
}

// found is a finding of a record that is right.
const found = "pass"

// Shown returns the public form of d.
func (d *Domain) Shown() SendingDomain {
	out := SendingDomain{
		Domain: d.Name, Status: d.Status, Records: []SendingRecord{}, VerifiedAt: moment(d.VerifiedAt),
		CheckedAt: moment(d.CheckedAt), CreatedAt: wire.At(d.CreatedAt),
	}
	for _, k := range d.Keys {
		out.Records = append(out.Records, SendingRecord{
			Type: "TXT", Name: dkim.Name(k.Selector, d.Name), Value: dkim.Record(k.Public), Found: k.Found,
		})
	}
	out.Records = append(out.Records,
		SendingRecord{Type: "TXT", Name: d.Name, Value: "v=spf1 " + d.Relays + " ~all", Found: d.SPF == found},
		SendingRecord{Type: "TXT", Name: "_dmarc." + d.Name, Value: "v=DMARC1; p=none", Found: d.DMARC == found})
	return out
}

// includes has what providers ask to include in SPF, by the ends of the names of their servers.
var includes = map[string]string{
	".sendgrid.net": "sendgrid.net", ".amazonaws.com": "amazonses.com", ".mailgun.org": "mailgun.org",
	".postmarkapp.com": "spf.mtasv.net", ".mailjet.com": "spf.mailjet.com", ".brevo.com": "spf.brevo.com",
	".gmail.com": "_spf.google.com", ".office365.com": "spf.protection.outlook.com",
	".mandrillapp.com": "spf.mandrillapp.com", ".zoho.com": "zoho.com", ".zoho.eu": "zoho.eu",
}

// mechanisms returns the part of an SPF record that allows the servers of mailboxes, each "<kind> <host>".
func mechanisms(servers []string) string {
	var all []string
	for _, s := range servers {
		kind, host, _ := strings.Cut(s, " ")
		switch kind {
		case mailboxes.Google:
			all = append(all, "include:_spf.google.com")
		case mailboxes.Microsoft:
			all = append(all, "include:spf.protection.outlook.com")
		case mailboxes.SMTP:
			all = append(all, mechanism(strings.ToLower(host)))
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return "mx"
	}
	return strings.Join(all, " ")
}

func mechanism(host string) string {
	for end, name := range includes {
		if strings.HasSuffix(host, end) {
			return "include:" + name
		}
	}
	return "a:" + host
}
