package webhooks

import "github.com/funnelwork/funnelwork/internal/keyring"

// Sealed lists the columns with encrypted secrets of endpoints.
func Sealed() []keyring.Column {
	about := keyring.ByOrgAndID("webhook_endpoint")
	return []keyring.Column{
		{Table: "webhook_endpoint", Name: "secret", Key: keyring.OrgAndID(), About: about},
		{Table: "webhook_endpoint", Name: "previous_secret", Key: keyring.OrgAndID(), About: about},
	}
}
