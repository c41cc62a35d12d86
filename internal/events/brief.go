package events

import "github.com/funnelwork/funnelwork/internal/id"

// What a timeline keeps of the objects of the catalogue, and which id an entry names.

type contactBrief struct {
	ID        id.ID   `json:"id"`
	Email     string  `json:"email"`
	FirstName string  `json:"first_name"`
	LastName  string  `json:"last_name"`
	Stage     string  `json:"stage"`
	LeadScore float64 `json:"lead_score"`
}

func (c Contact) brief() any {
	return contactBrief{c.ID, c.Email, c.FirstName, c.LastName, c.Stage, c.LeadScore}
}
func (c Contact) subject() id.ID { return c.ID }

func (t Tagging) subject() id.ID { return t.ContactID }

func (m Merge) subject() id.ID { return m.ID }

func (m Membership) subject() id.ID { return m.SegmentID }
