package social

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
)

// Sealed lists the columns that hold tokens. Resealing does not increment a grant's version, since the tokens stay the
// same.
func Sealed() []keyring.Column {
	of := func(about func(org, row id.ID) string) func([]string) string {
		return func(key []string) string {
			org, _ := id.Parse(key[0]) // text of a uuid column
			row, _ := id.Parse(key[1])
			return about(org, row)
		}
	}
	grant := func(field string) func(org, row id.ID) string {
		return func(org, row id.ID) string { return grantAbout(org, row, field) }
	}
	return []keyring.Column{
		{Table: "social_grant", Name: "sealed_access", Key: keyring.OrgAndID(), About: of(grant(fieldAccess))},
		{Table: "social_grant", Name: "sealed_refresh", Key: keyring.OrgAndID(), About: of(grant(fieldRefresh))},
		{Table: "social_account", Name: "sealed_token", Key: keyring.OrgAndID(), About: of(accountAbout)},
		{Table: "social_pending", Name: "sealed", Key: keyring.OrgAndID(), About: of(pendingAbout)},
		{Table: "oauth_state", Name: "verifier"}, // expires within minutes
	}
}
