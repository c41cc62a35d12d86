package api

import (
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
)

// clientOrgDetail is a client org with its agency's allocations.
type clientOrgDetail struct {
	org.ClientOrg
	Features map[string]featureValue `json:"features" doc:"Allocated features; others as the agency's"`
}

type clientOut struct {
	Location string `header:"Location" doc:"Address of the client organization"`
	httpx.Tagged
	Body clientOrgDetail
}

// newClientOut is the response to the creation of a client org.
type newClientOut struct {
	Location string `header:"Location" doc:"Address of the client organization"`
	httpx.Tagged
	Body createdClientOrg
}

type createdClientOrg struct {
	org.ClientOrg
	Features  map[string]featureValue `json:"features" doc:"Allocated features; others as the agency's"`
	Mail      string                  `json:"mail,omitempty" enum:"sent,withheld,not_configured"`
	AcceptURL string                  `json:"accept_url,omitempty" format:"uri"`
}

// Descriptions implements wire.Describer.
func (createdClientOrg) Descriptions() map[string]string {
	return map[string]string{
		"mail": "With owner_email: whether the invitation was mailed; mails per address are limited in 24 " +
			"hours",
		"accept_url": "Link for the invited owner, to pass on yourself; only on an install without mail. Anyone with " +
			"the link may join",
	}
}

type clientsOut struct{ Body httpx.List[org.ClientOrg] }

// ClientID is the path parameter of a client org.
type ClientID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the client organization"`
}

type createClientOrgIn struct {
	Body struct {
		Name       string         `json:"name" minLength:"1" maxLength:"200" doc:"Name of the client organization"`
		OwnerEmail string         `json:"owner_email,omitempty" maxLength:"254" doc:"Invited as the owner; users only"`
		Features   map[string]any `json:"features,omitempty"`
	}
}

// Descriptions implements wire.Describer.
func (createClientOrgIn) Descriptions() map[string]string {
	return map[string]string{
		"features": "Allocation of the agency's features: a number, null for no limit, true or false, or text",
	}
}

type updateClientOrgIn struct {
	ClientID
	httpx.IfMatch
	Body struct {
		Name      httpx.Optional[string]         `json:"name" required:"false"`
		Features  httpx.Optional[map[string]any] `json:"features" required:"false"`
		ID        httpx.Optional[string]         `json:"id" required:"false" doc:"Cannot be changed"`
		Status    httpx.Optional[string]         `json:"status" required:"false"`
		CreatedBy httpx.Optional[string]         `json:"created_by" required:"false"`
		CreatedAt httpx.Optional[string]         `json:"created_at" required:"false"`
		UpdatedAt httpx.Optional[string]         `json:"updated_at" required:"false"`
		PausedAt  httpx.Optional[string]         `json:"paused_at" required:"false"`
	}
}

// Descriptions implements wire.Describer.
func (updateClientOrgIn) Descriptions() map[string]string {
	return map[string]string{
		"name":       "New name: 1 to 200 characters, not null",
		"features":   "Allocated features, merged by key; null removes one",
		"status":     "Read-only here: use pause and resume",
		"created_by": "Read-only: only the current value is accepted",
		"created_at": "Read-only: only the current value is accepted",
		"updated_at": "Read-only: only the current value is accepted",
		"paused_at":  "Read-only here: use pause and resume",
	}
}
