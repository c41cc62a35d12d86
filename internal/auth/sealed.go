package auth

import rings "github.com/funnelwork/funnelwork/internal/keyring" // keyring is the signing keys here

// Sealed lists where signing keys and the successors of refresh tokens lie.
func Sealed() []rings.Column {
	return []rings.Column{
		{
			Table: "signing_key", Name: "private", Key: []rings.KeyPart{{Name: "kid", Type: "text"}},
			About: func(key []string) string { return "signing_key/" + key[0] },
		},
		{Table: "refresh_token", Name: "successor", Key: rings.OrgAndID(), About: rings.ByOrgAndID("refresh_token")},
	}
}
