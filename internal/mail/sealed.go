package mail

import "github.com/funnelwork/funnelwork/internal/keyring"

// Sealed lists the columns with encrypted mail bodies.
func Sealed() []keyring.Column {
	about := keyring.ByOrgAndID("system_mail")
	return []keyring.Column{
		{Table: "system_mail", Name: "body", Key: keyring.OrgAndID(), About: about},
		{Table: "sandbox_mail", Name: "body", Key: keyring.OrgAndID(), About: about},
	}
}
