package dkim_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"

	verify "github.com/emersion/go-msgauth/dkim"

	"github.com/funnelwork/funnelwork/internal/outreach/dkim"
)

// newKeys returns a key of each algorithm with its record.
func newKeys(t *testing.T) map[string]*dkim.Key {
	t.Helper()
	private, public, err := dkim.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := dkim.ParseKey(private)
	if err != nil {
		t.Fatal(err)
	}
	seed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	return map[string]*dkim.Key{
		dkim.Record(public): {Domain: "shop.example", Selector: "a", Signer: signer},
		"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(seed[ed25519.SeedSize:]): {
			Domain: "shop.example", Selector: "b", Signer: seed,
		},
	}
}

// verdict returns the result of another implementation.
func verdict(t *testing.T, record string, mail []byte) error {
	t.Helper()
	found, err := verify.VerifyWithOptions(bytes.NewReader(mail), &verify.VerifyOptions{
		LookupTXT: func(string) ([]string, error) { return []string{record}, nil },
	})
	if err != nil {
		return err
	}
	if len(found) != 1 || found[0].Domain != "shop.example" {
		t.Fatalf("%+v", found)
	}
	return found[0].Err
}

const header = "From: Ana <ana@shop.example>\r\nTo: bo@example.org\r\nSubject: A  long\r\n\tsubject \r\n" +
	"Date: Mon, 09 Mar 2026 23:30:00 +0000\r\nMessage-ID: <a@shop.example>\r\n"

func TestAnotherImplementationAcceptsTheSignatureOfAnyBody(t *testing.T) {
	t.Parallel()
	for record, key := range newKeys(t) {
		for name, mail := range map[string]string{
			"plain":               header + "\r\nHi\r\n",
			"empty":               header + "\r\n",
			"only line ends":      header + "\r\n\r\n\r\n",
			"line ends after it":  header + "\r\nHi\r\n\r\n\r\n",
			"line ends within it": header + "\r\n\r\nHi\r\n\r\n\r\nBo\r\n",
			"without a line end":  header + "\r\nHi",
			"spaces":              header + "\r\n  Hi \t Bo  \r\n \t\r\n\tAna\r\n  \r\n",
			"one click": header + "List-Unsubscribe: <https://shop.example/t/u/x>\r\n" +
				"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nHi\r\n",
			"a header twice": header + "X-A: 1\r\nSubject: Other\r\n\r\nHi\r\n",
		} {
			signed, err := key.Sign([]byte(mail))
			if err != nil {
				t.Fatal(err)
			}
			if err := verdict(t, record, signed); err != nil {
				t.Errorf("%s, %.30s: %v\n%s", name, record, err, signed)
			}
			again, err := key.Sign([]byte(mail))
			if err != nil || !bytes.Equal(signed, again) {
				t.Errorf("%s, %.30s: a second signature differs (%v)", name, record, err)
			}
			if !bytes.HasSuffix(signed, []byte(mail)) || !bytes.Contains(signed, []byte("t=1773099000;")) {
				t.Errorf("%s: %s", name, signed)
			}
			for line := range strings.SplitSeq(string(signed), "\r\n") {
				if len(line) > 200 {
					t.Errorf("%s: a line of %d bytes", name, len(line))
				}
			}
		}
	}
}

func TestWhatIsChangedOrAddedMakesTheSignatureInvalid(t *testing.T) {
	t.Parallel()
	for record, key := range newKeys(t) {
		signed, err := key.Sign([]byte(header + "List-Unsubscribe: <https://shop.example/t/u/x>\r\n\r\nHi\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range [][2]string{
			{"\r\n\r\nHi", "\r\n\r\nHo"},
			{"/t/u/x", "/t/u/y"},
			{"bo@example.org", "eve@example.org"},
			{"\r\n\r\nHi", "\r\nReply-To: eve@example.org\r\n\r\nHi"},
			{"\r\n\r\nHi", "\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nHi"},
			{"Date: Mon, 09", "Date: Mon, 16"},
		} {
			changed := bytes.Replace(signed, []byte(change[0]), []byte(change[1]), 1)
			if verdict(t, record, changed) == nil || bytes.Equal(changed, signed) {
				t.Errorf("%q for %q is accepted", change[1], change[0])
			}
		}
	}
}

func TestWhatIsNoMailIsNotSigned(t *testing.T) {
	t.Parallel()
	for _, key := range newKeys(t) {
		if _, err := key.Sign([]byte("From: a@shop.example\r\n")); err == nil {
			t.Error("a header without its end is signed")
		}
	}
	if _, err := dkim.ParseKey([]byte("none")); err == nil {
		t.Error("a text is a key")
	}
}
