package advice

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"time"
)

// ofCertificate returns the advice for a certificate that could not be verified: whose it is, who issued it, and until
// when it is valid.
func ofCertificate(p *Problem) (Advice, bool) {
	var (
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		issuer  x509.UnknownAuthorityError
		all     *tls.CertificateVerificationError
	)
	var shown *x509.Certificate
	if errors.As(p.Err, &all) && len(all.UnverifiedCertificates) > 0 {
		shown = all.UnverifiedCertificates[0]
	}
	switch {
	case errors.As(p.Err, &name):
		return Advice{
			p.server() + " has a certificate for " + namesOf(name.Certificate) + ", not for " + p.Host + ". " +
				validity(name.Certificate),
			"Enter one of these names as the host if it is the provider's own, or ask the operator for the right one.",
		}, true
	case errors.As(p.Err, &invalid) && invalid.Reason == x509.Expired:
		c := invalid.Cert
		detail := p.server() + " has a certificate for " + namesOf(c) + " that has expired. " + validity(c)
		if c != nil && time.Now().Before(c.NotBefore) {
			detail = p.server() + " has a certificate for " + namesOf(c) + " that is not valid yet. " + validity(c)
		}
		return Advice{detail, "Ask the operator of the server to renew its certificate, then test the mailbox."}, true
	case errors.As(p.Err, &issuer):
		c := issuer.Cert
		if c == nil {
			c = shown
		}
		by := "an authority that is not known publicly"
		if c != nil {
			if by = c.Issuer.String(); c.Issuer.String() == c.Subject.String() {
				by = "itself"
			}
		}
		return Advice{
			p.server() + " has a certificate for " + namesOf(c) + " that was issued by " + by + ". " + validity(c),
			"Ask the operator of the server for a certificate of a public authority, with its intermediate " +
				"certificates.",
		}, true
	case errors.As(p.Err, &invalid), all != nil:
		return Advice{
			p.server() + " has a certificate for " + namesOf(shown) + " that cannot be verified: " +
				"" + oneLine(p.Err.Error()) +
				". " + validity(shown),
			"Ask the operator of the server to correct its certificate, then test the mailbox.",
		}, true
	}
	return Advice{}, false
}

const mostNames = 4

// namesOf returns the names that a certificate is for.
func namesOf(c *x509.Certificate) string {
	if c == nil {
		return "an unknown name"
	}
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 && c.Subject.CommonName != "" {
		names = append(names, c.Subject.CommonName)
	}
	if len(names) == 0 {
		return "no name"
	}
	more := ""
	if len(names) > mostNames {
		names, more = names[:mostNames], " and others"
	}
	return oneLine(strings.Join(names, ", ")) + more
}

// validity says until when a certificate is valid.
func validity(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	return "It is valid from " + c.NotBefore.UTC().Format(time.DateOnly) + " until " +
		c.NotAfter.UTC().Format(time.DateOnly) + "."
}
