package dkim

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
)

// bits is the size of new RSA keys: what RFC 8301 recommends, and the most that fits all DNS providers.
const bits = 2048

// NewKey returns a new RSA key in its PKCS #8 form, and its public part as a record has it.
func NewKey() (private []byte, public string, err error) {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	if private, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return nil, "", fmt.Errorf("encode key: %w", err)
	}
	spki, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, "", fmt.Errorf("encode key: %w", err)
	}
	return private, base64.StdEncoding.EncodeToString(spki), nil
}

// ParseKey returns the key of a PKCS #8 form.
func ParseKey(private []byte) (crypto.Signer, error) {
	key, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errAlgorithm
	}
	return signer, nil
}

// Record returns the text of the TXT record of an RSA key.
func Record(public string) string { return "v=DKIM1; k=rsa; p=" + public }

// Name returns the name of the record of a key.
func Name(selector, domain string) string { return selector + "._domainkey." + domain }
