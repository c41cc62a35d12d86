package advice_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/outreach/advice"
)

// The replies of servers at a sign-in, as they word them, and a word of what to do.
var signIns = map[string]string{
	"534 5.7.9 Application-specific password required. For more information, go to " +
		"5.7.9 https://support.google.com/mail/?p=InvalidSecondFactor": "myaccount.google.com/apppasswords",
	"[ALERT] Application-specific password required: https://support.google.com/accounts/answer/185833 (Failure)": "" +
		"myaccount.google.com/apppasswords",
	"535 5.7.8 Username and Password not accepted. For more information, go to " +
		"5.7.8 https://support.google.com/mail/?p=BadCredentials": "app password",
	"534 5.7.14 <https://accounts.google.com/signin/continue?sarp=1> Please log in via your web browser": "web browser",
	"[ALERT] Please log in via your web browser: https://support.google.com/mail/accounts/answer/78754":  "web browser",
	"535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant. Visit " +
		"https://aka.ms/smtp_auth_disabled for more information.": "administrator of Microsoft 365",
	"535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Mailbox.": "administrator",
	"535 5.7.139 Authentication unsuccessful, basic authentication is disabled.":                     "kind microsoft",
	"535 5.7.139 Authentication unsuccessful, user is locked by your organization's security defaults policy.": "" +
		"kind microsoft",
	"535 5.7.139 Authentication unsuccessful, the request did not meet the criteria to be authenticated " +
		"successfully.": "" +
		"kind microsoft",
	"535 5.7.3 Authentication " +
		"unsuccessful": "current user name",
	"LOGIN failed.": "current user name",
	"BasicAuthBlocked: basic authentication is disabled": "kind microsoft",
	"535 5.7.0 (#AUTH005) Too many bad auth attempts.":   "Wait",
	"[AUTHENTICATIONFAILED] LOGIN Invalid " +
		"credentials": "current user name",
	"535 Authentication failed: please use an app password":             "app password",
	"[AUTHORIZATIONFAILED] This account needs an app-specific password": "app password",
	"535 5.7.8 Error: authentication failed: Invalid user or " +
		"password!": "current user name",
	"535 5.7.8 Error: authentication failed: This user does not have access rights to this service": "Switch on",
	"535 Error: authentication failed, application password is required":                            "app password",
	"NO Application password is REQUIRED. See https://help.mail.ru":                                 "app password",
	"535 Authentication credentials " +
		"invalid": "current user name",
	"535 Incorrect authentication " +
		"data": "current user name",
	"535 Login fail. Account is abnormal, service is not open, password is " +
		"incorrect": "authorization code",
	"550 User has no permission, " +
		"请使用授权码登录": "authorization code",
	"[ALERT] IMAP access is disabled for your domain. Please contact your domain administrator":  "Switch on",
	"NO You are yet to enable IMAP for your account. Please contact your administrator":          "Switch on",
	"535 5.7.8 Sie müssen den Zugriff über POP3 und IMAP erst freischalten":                      "Switch on",
	"454 4.7.0 Too many login attempts, please try again later.":                                 "Wait",
	"[LIMIT] Too many simultaneous connections":                                                  "Wait",
	"421 4.7.0 Try again later, closing connection.":                                             "Wait",
	"535 5.7.8 Error: authentication failed: account is disabled":                                "unblock",
	"525 5.7.13 User account disabled":                                                           "unblock",
	"[EXPIRED] Password expired":                                                                 "new password",
	"530 5.7.0 Must issue a STARTTLS command first":                                              "encryption",
	"538 5.7.11 Encryption required for requested authentication mechanism":                      "encryption",
	"[PRIVACYREQUIRED] Plaintext authentication disallowed on non-secure (SSL/TLS) connections.": "encryption",
	"504 5.5.4 Unrecognized authentication type":                                                 "587",
	"503 5.5.1 Error: authentication not enabled":                                                "587",
	"502 5.5.2 Error: command not implemented":                                                   "587",
	"535 5.7.8 Something " +
		"new": "current user name",
}

// The replies after the sign-in.
var tests = map[string]string{
	"553 5.7.1 <ada@shop.example>: Sender address rejected: not owned by user " +
		"ada": "verify the address",
	"550 5.7.60 SMTP; Client does not have permissions to send as this " +
		"sender": "verify the address",
	"554 5.2.252 SendAsDenied; ada@shop.example not allowed to send as " +
		"bob@shop.example": "verify the address",
	"554 Message rejected: Email address is not verified. The following identities failed the check: " +
		"ada": "verify the address",
	"550 5.7.1 Relaying denied": "outgoing mail",
	"530 5.7.57 SMTP; Client was not authenticated to send anonymous mail":                  "user name",
	"530 5.7.1 Authentication required":                                                     "user name",
	"554 5.7.1 Service unavailable; Client host [192.0.2.7] blocked using zen.spamhaus.org": "list",
	"550 5.4.5 Daily user sending limit exceeded.":                                          "limit",
	"530 5.7.0 Must issue a STARTTLS command first.":                                        "encryption",
}

func TestTheReplyIsQuotedAndItsWordsDecideWhatToDo(t *testing.T) {
	t.Parallel()
	for table, isSignIn := range map[*map[string]string]bool{&signIns: true, &tests: false} {
		for reply, want := range *table {
			got := advice.Of(&advice.Problem{
				Protocol: "SMTP", Host: "smtp.example.com", Port: 587, SignIn: isSignIn,
				Reply: reply,
			})
			if !strings.Contains(got.Detail, reply[:min(len(reply), 30)]) || !strings.Contains(got.Action, want) {
				t.Errorf("%s: detail %q, action %q, want %q", reply, got.Detail, got.Action, want)
			}
		}
	}
	long := advice.Of(&advice.Problem{Reply: "535 a\r\nb\x00\xff" + strings.Repeat("x", 5000), SignIn: true})
	if len(long.Detail) > 500 || strings.ContainsAny(long.Detail, "\r\n\x00") || !utf8.ValidString(long.Detail) {
		t.Errorf("a hostile reply: %q", long.Detail)
	}
}

// certified makes a certificate, and returns the error of verifying it.
func certified(t *testing.T, change func(c *x509.Certificate)) error {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Hoster"}, NotBefore: time.Now().AddDate(0, -1, 0),
		NotAfter: time.Now().AddDate(0, 1, 0), DNSNames: []string{"mail.hoster.example", "*.hoster.example"},
		IsCA: true, BasicConstraintsValid: true,
	}
	pool := x509.NewCertPool()
	if change != nil {
		change(c)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	if c.Subject.CommonName != "Unknown" {
		pool.AddCert(parsed)
	}
	_, err = parsed.Verify(x509.VerifyOptions{DNSName: "smtp.shop.example", Roots: pool})
	if c.Subject.CommonName == "Old" {
		_, err = parsed.Verify(x509.VerifyOptions{DNSName: "mail.hoster.example", Roots: pool})
	}
	return fmt.Errorf("connect: %w",
		&tls.CertificateVerificationError{UnverifiedCertificates: []*x509.Certificate{parsed}, Err: err})
}

func TestACertificateIsNamedWithItsNamesItsIssuerAndItsEnd(t *testing.T) {
	t.Parallel()
	until := time.Now().AddDate(0, 1, 0).UTC().Format(time.DateOnly)
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"another name": {certified(t, nil), []string{
			"mail.hoster.example, *.hoster.example", "not for smtp.shop.example",
			until,
		}},
		"expired": {certified(t, func(c *x509.Certificate) {
			c.Subject.CommonName = "Old"
			c.NotAfter = time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC)
			c.NotBefore = c.NotAfter.AddDate(-1, 0, 0)
		}), []string{"has expired", "until 2025-03-04", "renew"}},
		"not valid yet": {certified(t, func(c *x509.Certificate) {
			c.Subject.CommonName = "Old"
			c.NotBefore = time.Date(2090, 3, 4, 0, 0, 0, 0, time.UTC)
			c.NotAfter = c.NotBefore.AddDate(1, 0, 0)
		}), []string{"not valid yet", "from 2090-03-04"}},
		"of itself": {certified(t, func(c *x509.Certificate) {
			c.Subject.CommonName = "Unknown"
			c.DNSNames = []string{"smtp.shop.example"}
		}), []string{"smtp.shop.example", "issued by itself", until, "public authority"}},
	} {
		got := advice.Of(&advice.Problem{
			Protocol: "SMTP", Host: "smtp.shop.example", Port: 465, TLS: "tls",
			Err: tc.err,
		})
		for _, want := range tc.want {
			if !strings.Contains(got.Detail+" "+got.Action, want) {
				t.Errorf("%s: %q, %q lack %q", name, got.Detail, got.Action, want)
			}
		}
	}
}

func TestAFailedConnectionSaysWhichPortAndEncryptionToChoose(t *testing.T) {
	t.Parallel()
	timeout := &net.OpError{Op: "read", Err: errors.New("i/o timeout")}
	for name, tc := range map[string]struct {
		p    advice.Problem
		want string
	}{
		"no STARTTLS": {advice.Problem{Port: 587, TLS: "starttls", Err: errors.New("the server does not offer " +
			"STARTTLS")}, "port 465"},
		"no STARTTLS here": {advice.Problem{
			Protocol: "IMAP", Port: 143, TLS: "starttls",
			Err: errors.New("the server refuses STARTTLS"),
		}, "port 993"},
		"no TLS": {advice.Problem{Port: 587, TLS: "tls", Err: fmt.Errorf("x: %w",
			tls.RecordHeaderError{Msg: "x"})}, "starttls"},
		"old TLS": {advice.Problem{Port: 465, TLS: "tls", Err: errors.New("remote error: tls: protocol " +
			"version not supported")}, "TLS 1.2"},
		"port 25":      {advice.Problem{Port: 25, TLS: "starttls", Err: timeout}, "587"},
		"465 waits":    {advice.Problem{Port: 465, TLS: "starttls", Err: timeout}, "encryption tls"},
		"587 waits":    {advice.Problem{Port: 587, TLS: "tls", Err: timeout}, "encryption starttls"},
		"no such name": {advice.Problem{Port: 465, TLS: "tls", Err: &net.DNSError{Err: "no such host"}}, "written"},
		"refused": {advice.Problem{Port: 2525, TLS: "starttls", Err: errors.New("connection " +
			"refused")}, "Check the port"},
		"no sign-in": {advice.Problem{
			Port: 25, TLS: "starttls", SignIn: true,
			Err: errors.New("the server offers no sign-in that can be used"),
		}, "587"},
		"unknown": {advice.Problem{Port: 465, TLS: "tls", Err: errors.New("x")}, ""},
	} {
		tc.p.Host = "smtp.shop.example"
		if got := advice.Of(&tc.p); !strings.Contains(got.Action, tc.want) || tc.want == "" &&
			got != (advice.Advice{}) {
			t.Errorf("%s: %+v, want %q", name, got, tc.want)
		}
	}
}
