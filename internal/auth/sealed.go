package auth

import rings "github.com/funnelwork/funnelwork/internal/keyring" // here, keyring is the signing keys

// Sealed lists the columns with signing keys and with the successors of refresh tokens.
func Sealed() []rings.Column {
	return []rings.Column{
		{
			Table: "signing_key", Name: "private", Key: []rings.KeyPart{{Name: "kid", Type: "text"}},
			About: func(key []string) string { return "signing_key/" + key[0] },
		},
		{Table: "refresh_token", Name: "successor", Key: rings.OrgAndID(), About: rings.ByOrgAndID("refresh_token")},
	}
}
